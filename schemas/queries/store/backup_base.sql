-- The newest full backup of a target, which another of the same stages may build upon.
SELECT name
FROM backups FINAL
WHERE target = {target:String} AND done AND base = ''
  AND JSONExtract(manifest, 'stages', 'Array(Tuple(name String))').name = {stages:Array(String)}
ORDER BY name DESC
LIMIT 1
