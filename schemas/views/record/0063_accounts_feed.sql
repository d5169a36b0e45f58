-- record_log to accounts.
CREATE MATERIALIZED VIEW IF NOT EXISTS accounts_feed TO accounts AS
SELECT
    account, id, revision, created_at, at AS updated_at, archived_at,
    JSONExtractString(body, 'name') AS name,
    JSONExtractString(body, 'timezone') AS timezone,
    toUInt32(JSONExtractUInt(body, 'retention_days')) AS retention_days,
    arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')) AS external_ids,
    body
FROM record_log
WHERE kind = 'account'
