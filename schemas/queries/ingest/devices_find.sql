-- Those of an account's devices in use that have one of some unique ids or ids.
SELECT account, id, unique_id, JSONExtractString(body, 'osmand_token_sha256')
FROM devices FINAL
WHERE account = {account:UInt64} AND (unique_id IN {unique_ids:Array(String)} OR id IN {ids:Array(UInt64)}) AND archived_at IS NULL
