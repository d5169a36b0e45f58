-- The devices in use with some unique ids, whichever accounts they are of: for devices that prove who they are by their own tokens.
SELECT account, id, revision, unique_id, JSONExtractString(body, 'osmand_token_sha256')
FROM devices FINAL
WHERE unique_id IN {unique_ids:Array(String)} AND archived_at IS NULL
ORDER BY updated_at DESC
LIMIT 1 BY unique_id
