-- record_log to work_orders: the columns that lists filter and sort by, taken from the record.
INSERT INTO work_orders
    (account, id, revision, created_at, updated_at, archived_at, number, vehicle_id, type, priority, status, status_since, title,
     description, vendor, assignee, invoice_ref, scheduled_start, scheduled_end, started_at, completed_at, blocked_until,
     total_amount, currency, downtime_minutes, warranty_claim, external_ids, body)
SELECT
    account, id, revision, created_at, at AS updated_at, archived_at,
    toUInt64(JSONExtractInt(body, 'number')) AS number,
    JSONExtractString(body, 'vehicle_id') AS vehicle_id,
    JSONExtractString(body, 'type') AS type,
    JSONExtractString(body, 'priority') AS priority,
    JSONExtractString(body, 'status') AS status,
    parseDateTime64BestEffortOrZero(JSONExtractString(body, 'status_since'), 3, 'UTC') AS status_since,
    JSONExtractString(body, 'title') AS title,
    JSONExtractString(body, 'description') AS description,
    JSONExtractString(body, 'vendor') AS vendor,
    JSONExtractString(body, 'assignee') AS assignee,
    JSONExtractString(body, 'invoice_ref') AS invoice_ref,
    parseDateTime64BestEffortOrZero(JSONExtractString(body, 'scheduled_from'), 3, 'UTC') AS scheduled_start,
    parseDateTime64BestEffortOrZero(JSONExtractString(body, 'scheduled_until'), 3, 'UTC') AS scheduled_end,
    parseDateTime64BestEffortOrZero(JSONExtractString(body, 'started_at'), 3, 'UTC') AS started_at,
    parseDateTime64BestEffortOrZero(JSONExtractString(body, 'completed_at'), 3, 'UTC') AS completed_at,
    parseDateTime64BestEffortOrZero(JSONExtractString(body, 'blocked_until'), 3, 'UTC') AS blocked_until,
    JSONExtractInt(body, 'total', 'amount') AS total_amount,
    JSONExtractString(body, 'total', 'currency') AS currency,
    toUInt32(JSONExtractInt(body, 'downtime_minutes')) AS downtime_minutes,
    JSONExtractBool(body, 'warranty_claim') AS warranty_claim,
    arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')) AS external_ids,
    body
FROM record_log
WHERE kind = 'work_order'
