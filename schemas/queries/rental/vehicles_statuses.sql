-- The state of each of an account's vehicles that is not archived.
SELECT id, CAST(status, 'String')
FROM vehicles FINAL
WHERE account = {account:UInt64} AND archived_at IS NULL
