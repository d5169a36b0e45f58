-- The API key with a public part, of whatever account: this is how a request finds its account.
SELECT account, id, body
FROM api_keys FINAL
WHERE token_id = {token:String} AND archived_at IS NULL
LIMIT 1
