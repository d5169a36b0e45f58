-- record_log to vehicles: the columns that lists filter and sort by, taken from the record.
CREATE MATERIALIZED VIEW IF NOT EXISTS vehicles_feed TO vehicles AS
SELECT
    account, id, revision, created_at, at AS updated_at, archived_at,
    JSONExtractString(body, 'make') AS make,
    JSONExtractString(body, 'model') AS model,
    toUInt16(JSONExtractUInt(body, 'year')) AS year,
    JSONExtractString(body, 'vin') AS vin,
    JSONExtractString(body, 'status') AS status,
    JSONExtractString(body, 'license_plate') AS license_plate,
    JSONExtractString(body, 'plate_region') AS plate_region,
    JSONExtractString(body, 'nickname') AS nickname,
    JSONExtractString(body, 'fleet_number') AS fleet_number,
    JSONExtractString(body, 'fuel_type') AS fuel_type,
    JSONExtractString(body, 'body_type') AS body_type,
    JSONExtract(body, 'tags', 'Array(String)') AS tags,
    arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')) AS external_ids,
    body
FROM record_log
WHERE kind = 'vehicle'
