-- What a backup or its restore was of, by the id of that work.
SELECT toString(status) AS status, toUInt64(num_files) AS files, toUInt64(total_size) AS bytes
FROM system.backups
WHERE id = {id:String}
