-- The columns that the rows of each table are in order of.
SELECT name, sorting_key
FROM system.tables
WHERE database = currentDatabase() AND sorting_key != ''
