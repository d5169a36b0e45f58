-- record_log to inspections: the columns that lists filter and sort by, taken from the record.
INSERT INTO inspections
    (account, id, revision, created_at, updated_at, archived_at, vehicle_id, type, template, status, status_since, submitted_at,
     booking_id, signed_by, notes, external_ids, body)
SELECT
    account, id, revision, created_at, at AS updated_at, archived_at,
    JSONExtractString(body, 'vehicle_id') AS vehicle_id,
    JSONExtractString(body, 'type') AS type,
    JSONExtractString(body, 'template') AS template,
    JSONExtractString(body, 'status') AS status,
    parseDateTime64BestEffortOrZero(JSONExtractString(body, 'status_since'), 3, 'UTC') AS status_since,
    parseDateTime64BestEffortOrZero(JSONExtractString(body, 'submitted_at'), 3, 'UTC') AS submitted_at,
    JSONExtractString(body, 'booking_id') AS booking_id,
    JSONExtractString(body, 'signed_by') AS signed_by,
    JSONExtractString(body, 'notes') AS notes,
    arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')) AS external_ids,
    body
FROM record_log
WHERE kind = 'inspection'
