-- The device in use with a unique id, whichever account's it is: for a device that proves who it is by its own token.
SELECT account, id, unique_id, JSONExtractString(body, 'osmand_token_sha256')
FROM devices FINAL
WHERE unique_id = {unique_id:String} AND archived_at IS NULL
ORDER BY updated_at DESC
LIMIT 1
