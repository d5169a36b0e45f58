-- record_log to bookings: the columns that lists filter and sort by, and what reports and duties go by, taken from the record. Instants
-- in records are RFC 3339 in UTC, or null. A no-show is due after the grace of the frozen rate, a day unless it says otherwise.
CREATE MATERIALIZED VIEW IF NOT EXISTS bookings_feed TO bookings AS
WITH
    JSONExtractArrayRaw(body, 'charges') AS lines,
    name -> ifNull(parseDateTime64BestEffortOrNull(JSONExtractString(body, name), 3, 'UTC'), toDateTime64(0, 3, 'UTC')) AS instant
SELECT
    account, id, revision, created_at, at AS updated_at, archived_at,
    JSONExtractString(body, 'status') AS status,
    instant('status_since') AS status_since,
    JSONExtractString(body, 'channel') AS channel,
    JSONExtractString(body, 'external_reservation_id') AS external_reservation_id,
    JSONExtractString(body, 'customer_id') AS customer_id,
    arrayMap(driver -> JSONExtractString(driver, 'customer_id'), JSONExtractArrayRaw(body, 'drivers')) AS driver_ids,
    JSONExtractString(body, 'vehicle_id') AS vehicle_id,
    JSONExtractString(body, 'vehicle_class_id') AS vehicle_class_id,
    JSONExtractString(body, 'pickup_location_id') AS pickup_location_id,
    JSONExtractString(body, 'return_location_id') AS return_location_id,
    JSONExtractString(body, 'rate_plan_id') AS rate_plan_id,
    instant('pickup_at') AS pickup_at,
    instant('return_at') AS return_at,
    instant('blocked_from') AS blocked_from,
    instant('blocked_until') AS blocked_until,
    instant('hold_expires_at') AS hold_expires_at,
    instant('pickup_at') + toIntervalMinute(ifNull(JSONExtract(body, 'rate_snapshot', 'rate', 'no_show_grace_minutes', 'Nullable(Int64)'), 1440)) AS no_show_at,
    instant('actual_pickup_at') AS actual_pickup_at,
    instant('actual_return_at') AS actual_return_at,
    instant('confirmed_at') AS confirmed_at,
    ifNull(parseDateTime64BestEffortOrNull(JSONExtractString(body, 'cancellation', 'cancelled_at'), 3, 'UTC'), toDateTime64(0, 3, 'UTC')) AS cancelled_at,
    JSONExtractString(body, 'cancellation', 'cancelled_by') AS cancelled_by,
    instant('overdue_noted_at') AS overdue_noted_at,
    JSONExtractString(body, 'timezone') AS timezone,
    if(JSONExtractBool(body, 'conflict'), 'true', 'false') AS conflict,
    if(notEmpty(JSONExtractArrayRaw(body, 'damages')), 'true', 'false') AS has_damage,
    JSONExtractUInt(body, 'billed_days') AS billed_days,
    JSONExtractString(body, 'currency') AS currency,
    arraySum(line -> if(JSONExtractString(line, 'type') = 'platform_fee', 0, JSONExtractInt(line, 'amount', 'amount')), lines) AS total_minor,
    JSONExtractString(body, 'deposit', 'status') AS deposit_status,
    arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')) AS external_ids,
    body
FROM record_log
WHERE kind = 'booking'
