-- Devices of some accounts in use that have one of some unique ids or ids. One that has the id or unique id of what was asked of another
-- account is among them: who asks goes by account.
SELECT account, id, revision, unique_id, JSONExtractString(body, 'osmand_token_sha256')
FROM devices FINAL
WHERE account IN {accounts:Array(UInt64)} AND unique_id IN {unique_ids:Array(String)} AND archived_at IS NULL
UNION ALL
SELECT account, id, revision, unique_id, JSONExtractString(body, 'osmand_token_sha256')
FROM devices FINAL
WHERE account IN {accounts:Array(UInt64)} AND id IN {ids:Array(UInt64)} AND archived_at IS NULL
