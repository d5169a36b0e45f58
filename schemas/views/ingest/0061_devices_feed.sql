-- record_log to devices.
CREATE MATERIALIZED VIEW IF NOT EXISTS devices_feed TO devices AS
SELECT
    account, id, revision, created_at, at AS updated_at, archived_at,
    JSONExtractString(body, 'unique_id') AS unique_id,
    JSONExtractString(body, 'name') AS name,
    JSONExtractString(body, 'protocol') AS protocol,
    JSONExtractString(body, 'model') AS model,
    arrayMap(a -> JSONExtractString(a, 'vehicle_id'), JSONExtractArrayRaw(body, 'assignments')) AS vehicle_ids,
    arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')) AS external_ids,
    body
FROM record_log
WHERE kind = 'device'
