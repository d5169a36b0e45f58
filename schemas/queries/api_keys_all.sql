-- The API keys of an account, for the command line. What proves a key is not among the columns.
SELECT id, name, token_id, scopes, created_at, expires_at, revoked_at
FROM api_keys FINAL
WHERE account = {account:UInt64} AND archived_at IS NULL
ORDER BY id
