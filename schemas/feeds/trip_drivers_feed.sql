-- record_log to trip_drivers.
INSERT INTO trip_drivers
    (account, id, revision, created_at, updated_at, archived_at, vehicle, from_at, to_at, driver, body)
SELECT
    account, id, revision, created_at, at AS updated_at, archived_at,
    toUInt64OrZero(substring(JSONExtractString(body, 'vehicle_id'), 5)) AS vehicle,
    fromUnixTimestamp64Milli(JSONExtractInt(body, 'from_ms'), 'UTC') AS from_at,
    fromUnixTimestamp64Milli(JSONExtractInt(body, 'to_ms'), 'UTC') AS to_at,
    JSONExtractString(body, 'driver') AS driver,
    body
FROM record_log
WHERE kind = 'trip_driver'
