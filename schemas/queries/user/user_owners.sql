-- How many people of an account, but for one, are owners and can sign in.
SELECT count()
FROM users FINAL
WHERE account = {account:UInt64} AND id != {but:UInt64} AND role = 'owner' AND NOT disabled AND archived_at IS NULL
