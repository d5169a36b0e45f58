-- Tables of this database that would store a repeated insert twice, because their deduplication window is off.
SELECT name
FROM system.tables
WHERE database = currentDatabase()
    AND engine LIKE '%MergeTree' AND engine NOT LIKE 'Replicated%' AND engine NOT LIKE 'Shared%'
    AND name != 'schema_versions'
    AND NOT match(create_table_query, 'non_replicated_deduplication_window = [1-9]')
ORDER BY name
