-- record_log to quotes: the columns that lists filter and sort by, taken from the record.
INSERT INTO quotes
    (account, id, revision, created_at, updated_at, archived_at, customer_id, vehicle_class_id, vehicle_id, rate_plan_id,
     pickup_location_id, channel, pickup_at, return_at, expires_at, booking_id, total_amount, currency, external_ids, body)
SELECT
    account, id, revision, created_at, at AS updated_at, archived_at,
    JSONExtractString(body, 'customer_id') AS customer_id,
    JSONExtractString(body, 'vehicle_class_id') AS vehicle_class_id,
    JSONExtractString(body, 'vehicle_id') AS vehicle_id,
    JSONExtractString(body, 'rate_plan_id') AS rate_plan_id,
    JSONExtractString(body, 'pickup_location_id') AS pickup_location_id,
    JSONExtractString(body, 'channel') AS channel,
    parseDateTime64BestEffortOrZero(JSONExtractString(body, 'pickup_at'), 3, 'UTC') AS pickup_at,
    parseDateTime64BestEffortOrZero(JSONExtractString(body, 'return_at'), 3, 'UTC') AS return_at,
    parseDateTime64BestEffortOrZero(JSONExtractString(body, 'expires_at'), 3, 'UTC') AS expires_at,
    JSONExtractString(body, 'booking_id') AS booking_id,
    JSONExtractInt(body, 'rate_snapshot', 'totals', 'total', 'amount') AS total_amount,
    JSONExtractString(body, 'rate_snapshot', 'currency') AS currency,
    arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')) AS external_ids,
    body
FROM record_log
WHERE kind = 'quote'
