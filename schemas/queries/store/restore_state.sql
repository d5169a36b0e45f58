-- What stands in a database before a restore: its tables, and whether a restore was begun there and not ended.
SELECT count() AS tables, countIf(name = 'restore_unfinished') > 0 AS unfinished
FROM system.tables
WHERE database = {database:String}
