-- The vehicles of all accounts to which the passing of time has something to do: whose state ends by itself, and those for which
-- a block of maintenance has begun or work goes on, unless somebody put them by hand where they are since; and those that a transfer has
-- brought somewhere in the last month. Read by desk.
SELECT account, id AS vehicle, status_cause AS cause
FROM vehicles FINAL
WHERE archived_at IS NULL AND status IN ('turnaround', 'maintenance')
    AND toUnixTimestamp64Milli(status_until) != 0 AND status_until <= fromUnixTimestamp64Milli({now:Int64}, 'UTC')
UNION ALL
SELECT c.account, c.vehicle, c.cause
FROM (
    SELECT account, toUInt64OrZero(substring(vehicle_id, 5)) AS vehicle, concat('blk_', toString(id)) AS cause, `from` AS since
    FROM blocks FINAL
    WHERE archived_at IS NULL AND kind IN ('maintenance', 'repair')
        AND `from` <= fromUnixTimestamp64Milli({now:Int64}, 'UTC') AND until > fromUnixTimestamp64Milli({now:Int64}, 'UTC')
    UNION ALL
    SELECT account, toUInt64OrZero(substring(vehicle_id, 5)) AS vehicle, concat('wo_', toString(id)) AS cause, started_at AS since
    FROM work_orders FINAL
    WHERE archived_at IS NULL AND status IN ('in_progress', 'on_hold')
) AS c
INNER JOIN (
    SELECT account, id, status_cause, status_since FROM vehicles FINAL WHERE archived_at IS NULL AND status IN ('available', 'turnaround')
) AS v ON v.account = c.account AND v.id = c.vehicle
WHERE NOT (v.status_cause = '' AND v.status_since >= c.since)
UNION ALL
SELECT t.account, t.vehicle, t.cause
FROM (
    SELECT account, toUInt64OrZero(substring(vehicle_id, 5)) AS vehicle, concat('blk_', toString(id)) AS cause, until
    FROM blocks FINAL
    WHERE archived_at IS NULL AND to_location_id != ''
        AND until <= fromUnixTimestamp64Milli({now:Int64}, 'UTC') AND until > fromUnixTimestamp64Milli({now:Int64}, 'UTC') - INTERVAL 31 DAY
) AS t
INNER JOIN (
    SELECT account, id, located_at FROM vehicles FINAL WHERE archived_at IS NULL
) AS v ON v.account = t.account AND v.id = t.vehicle
WHERE v.located_at < t.until
