-- The newest full backup of a target, which another may build upon.
SELECT name
FROM backups FINAL
WHERE target = {target:String} AND done AND base = ''
ORDER BY name DESC
LIMIT 1
