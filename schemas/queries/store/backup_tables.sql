-- What a backup takes of this database, tables and views, with the bytes that they take.
SELECT name, ifNull(total_bytes, 0) AS bytes
FROM system.tables
WHERE database = currentDatabase() AND NOT is_temporary AND name NOT IN ('backups', 'backup_files')
ORDER BY name
