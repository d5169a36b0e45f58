-- How many of some tables are whole on the server that is asked: of the parts of others it may know only some.
SELECT count()
FROM system.tables
WHERE database = currentDatabase() AND name IN {tables:Array(String)} AND engine IN ('MergeTree', 'ReplacingMergeTree', 'AggregatingMergeTree')
