-- Backups of which files lie on their way yet: those that were broken off, once they are older than any that goes on.
SELECT DISTINCT name
FROM backup_files
WHERE name < {before:String}
