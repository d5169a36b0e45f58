-- How many blocks each table of this database remembers the tokens of.
SELECT name, toUInt64OrZero(extract(create_table_query, 'non_replicated_deduplication_window = ([0-9]+)')) AS blocks
FROM system.tables
WHERE database = currentDatabase()
    AND engine LIKE '%MergeTree' AND engine NOT LIKE 'Replicated%' AND engine NOT LIKE 'Shared%'
ORDER BY name
