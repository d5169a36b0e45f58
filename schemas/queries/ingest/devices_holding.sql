-- The devices in use with some unique ids, whichever accounts' they are: for operators.
SELECT account, id, revision, unique_id, JSONExtractString(body, 'osmand_token_sha256')
FROM devices FINAL
WHERE unique_id IN {unique_ids:Array(String)} AND archived_at IS NULL
