-- The OAuth client of an id, of whatever account: this is how a request for a token finds its account.
SELECT account, body, archived_at IS NOT NULL AS archived
FROM oauth_clients FINAL
WHERE id = {id:UInt64}
LIMIT 1
