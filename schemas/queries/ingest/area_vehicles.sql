-- The vehicles of an account that have one of the tags.
SELECT id
FROM vehicles FINAL
WHERE account = {account:UInt64} AND hasAny(tags, {tags:Array(String)})
ORDER BY id
