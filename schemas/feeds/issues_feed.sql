-- record_log to issues: the columns that lists filter and sort by, taken from the record.
INSERT INTO issues
    (account, id, revision, created_at, updated_at, archived_at, vehicle_id, severity, category, status, status_since, description,
     reported_by, booking_id, work_order_id, external_ids, body)
SELECT
    account, id, revision, created_at, at AS updated_at, archived_at,
    JSONExtractString(body, 'vehicle_id') AS vehicle_id,
    JSONExtractString(body, 'severity') AS severity,
    JSONExtractString(body, 'category') AS category,
    JSONExtractString(body, 'status') AS status,
    parseDateTime64BestEffortOrZero(JSONExtractString(body, 'status_since'), 3, 'UTC') AS status_since,
    JSONExtractString(body, 'description') AS description,
    JSONExtractString(body, 'reported_by') AS reported_by,
    JSONExtractString(body, 'booking_id') AS booking_id,
    JSONExtractString(body, 'work_order_id') AS work_order_id,
    arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')) AS external_ids,
    body
FROM record_log
WHERE kind = 'issue'
