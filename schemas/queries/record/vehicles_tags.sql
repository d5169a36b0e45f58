-- The tags of those of an account's vehicles that have any, archived ones too.
SELECT id, tags
FROM vehicles FINAL
WHERE account = {account:UInt64} AND notEmpty(tags)
