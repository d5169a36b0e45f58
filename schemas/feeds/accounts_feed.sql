-- record_log to accounts.
INSERT INTO accounts
    (account, id, revision, created_at, updated_at, archived_at, name, timezone, retention_days, external_ids, body)
SELECT
    account, id, revision, created_at, at AS updated_at, archived_at,
    JSONExtractString(body, 'name') AS name,
    JSONExtractString(body, 'timezone') AS timezone,
    toUInt32(JSONExtractUInt(body, 'retention_days')) AS retention_days,
    arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')) AS external_ids,
    body
FROM record_log
WHERE kind = 'account'
