-- A backup by its name. It may have been restored from elsewhere than where it was made.
SELECT base, manifest
FROM backups FINAL
WHERE name = {name:String}
ORDER BY at DESC
LIMIT 1
