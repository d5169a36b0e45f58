-- The API key with a public part, of whatever account: this is how a request finds its account. With it comes how many
-- requests a minute the operator gave to each credential of the account; null if none were given.
SELECT account, id, body, (
        SELECT JSONExtract(body, 'rate_limit', 'Nullable(Int64)')
        FROM accounts FINAL
        WHERE account IN (SELECT account FROM api_keys WHERE token_id = {token:String})
        LIMIT 1
    )
FROM api_keys FINAL
WHERE token_id = {token:String} AND archived_at IS NULL
LIMIT 1
