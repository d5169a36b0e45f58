-- record_log to bookings: the columns that lists filter and sort by, and what reports and duties go by, taken from the record. Instants
-- in records are RFC 3339 in UTC, or null. A no-show is due after the grace of the frozen rate, a day unless it
-- says otherwise, from the pickup or the confirmation, whichever is later; never for one that was written down afterwards.
INSERT INTO bookings
    (account, id, revision, created_at, updated_at, archived_at, status, status_since, channel, external_reservation_id,
     customer_id, driver_ids, vehicle_id, vehicle_class_id, pickup_location_id, return_location_id, rate_plan_id, pickup_at,
     return_at, blocked_from, blocked_until, hold_expires_at, no_show_at, actual_pickup_at, actual_return_at, confirmed_at,
     cancelled_at, cancelled_by, overdue_noted_at, timezone, conflict, has_damage, billed_days, currency, total_minor, platform_minor,
     deposit_status, deposit_expires_at, external_ids, body)
WITH JSONExtractArrayRaw(body, 'charges') AS lines
SELECT
    account, id, revision, created_at, at AS updated_at, archived_at,
    JSONExtractString(body, 'status') AS status,
    parseDateTime64BestEffortOrZero(JSONExtractString(body, 'status_since'), 3, 'UTC') AS status_since,
    JSONExtractString(body, 'channel') AS channel,
    JSONExtractString(body, 'external_reservation_id') AS external_reservation_id,
    JSONExtractString(body, 'customer_id') AS customer_id,
    arrayMap(driver -> JSONExtractString(driver, 'customer_id'), JSONExtractArrayRaw(body, 'drivers')) AS driver_ids,
    JSONExtractString(body, 'vehicle_id') AS vehicle_id,
    JSONExtractString(body, 'vehicle_class_id') AS vehicle_class_id,
    JSONExtractString(body, 'pickup_location_id') AS pickup_location_id,
    JSONExtractString(body, 'return_location_id') AS return_location_id,
    JSONExtractString(body, 'rate_plan_id') AS rate_plan_id,
    parseDateTime64BestEffortOrZero(JSONExtractString(body, 'pickup_at'), 3, 'UTC') AS pickup_at,
    parseDateTime64BestEffortOrZero(JSONExtractString(body, 'return_at'), 3, 'UTC') AS return_at,
    parseDateTime64BestEffortOrZero(JSONExtractString(body, 'blocked_from'), 3, 'UTC') AS blocked_from,
    parseDateTime64BestEffortOrZero(JSONExtractString(body, 'blocked_until'), 3, 'UTC') AS blocked_until,
    parseDateTime64BestEffortOrZero(JSONExtractString(body, 'hold_expires_at'), 3, 'UTC') AS hold_expires_at,
    if(JSONExtractBool(body, 'backdated'), toDateTime64('2201-01-01 00:00:00', 3, 'UTC'), greatest(pickup_at, confirmed_at)
        + toIntervalMinute(ifNull(JSONExtract(body, 'rate_snapshot', 'rate', 'no_show_grace_minutes', 'Nullable(Int64)'), 1440))) AS no_show_at,
    parseDateTime64BestEffortOrZero(JSONExtractString(body, 'actual_pickup_at'), 3, 'UTC') AS actual_pickup_at,
    parseDateTime64BestEffortOrZero(JSONExtractString(body, 'actual_return_at'), 3, 'UTC') AS actual_return_at,
    parseDateTime64BestEffortOrZero(JSONExtractString(body, 'confirmed_at'), 3, 'UTC') AS confirmed_at,
    parseDateTime64BestEffortOrZero(JSONExtractString(body, 'cancellation', 'cancelled_at'), 3, 'UTC') AS cancelled_at,
    JSONExtractString(body, 'cancellation', 'cancelled_by') AS cancelled_by,
    parseDateTime64BestEffortOrZero(JSONExtractString(body, 'overdue_noted_at'), 3, 'UTC') AS overdue_noted_at,
    JSONExtractString(body, 'timezone') AS timezone,
    if(JSONExtractBool(body, 'conflict'), 'true', 'false') AS conflict,
    if(notEmpty(JSONExtractArrayRaw(body, 'damages')), 'true', 'false') AS has_damage,
    JSONExtractUInt(body, 'billed_days') AS billed_days,
    JSONExtractString(body, 'currency') AS currency,
    arraySum(line -> if(JSONExtractString(line, 'type') = 'platform_fee', 0, JSONExtractInt(line, 'amount', 'amount')), lines) AS total_minor,
    arraySum(line -> if(JSONExtractString(line, 'type') = 'platform_fee', JSONExtractInt(line, 'amount', 'amount'), 0), lines) AS platform_minor,
    JSONExtractString(body, 'deposit', 'status') AS deposit_status,
    parseDateTime64BestEffortOrZero(JSONExtractString(body, 'deposit', 'expires_at'), 3, 'UTC') AS deposit_expires_at,
    arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')) AS external_ids,
    body
FROM record_log
WHERE kind = 'booking'
