-- The devices of an account that are not archived. EXPLAIN indexes=1: the granules of the account.
SELECT id, revision, created_at, updated_at, archived_at, body
FROM devices FINAL
WHERE account = {account:UInt64} AND archived_at IS NULL
ORDER BY id
