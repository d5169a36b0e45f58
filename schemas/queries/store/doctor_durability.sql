-- Tables of this database whose inserts are acknowledged before the disk has them.
WITH (SELECT countIf(value = '1') = 2 FROM system.merge_tree_settings WHERE name IN ('fsync_after_insert', 'fsync_part_directory')) AS by_default
SELECT name
FROM system.tables
WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name != 'schema_versions'
    AND NOT by_default AND NOT match(create_table_query, 'fsync_after_insert = 1.*fsync_part_directory = 1')
ORDER BY name
