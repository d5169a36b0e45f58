-- record_log to route_plans: the columns that lists filter and sort by, taken from the record.
INSERT INTO route_plans
    (account, id, revision, created_at, updated_at, archived_at, name, description, vehicle_id, starts_at, ends_at, external_ids, body)
SELECT
    account, id, revision, created_at, at AS updated_at, archived_at,
    JSONExtractString(body, 'name') AS name,
    JSONExtractString(body, 'description') AS description,
    JSONExtractString(body, 'vehicle_id') AS vehicle_id,
    parseDateTime64BestEffortOrZero(JSONExtractString(body, 'from'), 3, 'UTC') AS starts_at,
    parseDateTime64BestEffortOrZero(JSONExtractString(body, 'until'), 3, 'UTC') AS ends_at,
    arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')) AS external_ids,
    body
FROM record_log
WHERE kind = 'route_plan'
