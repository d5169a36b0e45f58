-- record_log to vehicle_classes: the columns that lists filter and sort by, taken from the record.
INSERT INTO vehicle_classes
    (account, id, revision, created_at, updated_at, archived_at, name, code, description, rank, rate_plan_id, daily_rate, currency,
     overbooking_pct, external_ids, body)
SELECT
    account, id, revision, created_at, at AS updated_at, archived_at,
    JSONExtractString(body, 'name') AS name,
    JSONExtractString(body, 'code') AS code,
    JSONExtractString(body, 'description') AS description,
    toUInt16(JSONExtractUInt(body, 'rank')) AS rank,
    JSONExtractString(body, 'rate_plan_id') AS rate_plan_id,
    JSONExtractInt(body, 'daily_rate', 'amount') AS daily_rate,
    JSONExtractString(body, 'daily_rate', 'currency') AS currency,
    toUInt8(intDiv(JSONExtractUInt(body, 'overbooking_bp'), 100)) AS overbooking_pct,
    arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')) AS external_ids,
    body
FROM record_log
WHERE kind = 'vehicle_class'
