-- Who are owners of an account, but for one, and not disabled. Whether they can sign in stands in their records.
SELECT id
FROM users FINAL
WHERE account = {account:UInt64} AND id != {but:UInt64} AND role = 'owner' AND NOT disabled AND archived_at IS NULL
ORDER BY id
