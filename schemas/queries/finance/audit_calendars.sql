-- Audit: who has a vehicle when, by the calendars, against the rented seconds of the facts, by booking that has had one vehicle. A rental
-- lies within its hold; calendars forget holds that ended long ago, so of those that are over only what is still there is compared,
-- and one that is out must have its hold. While it is out the facts may be a little behind, but not ahead. Bookings that changed since
-- {until} are left out. EXPLAIN indexes=1: calendars are read whole, bookings by blocked_until_minmax.
WITH
    fromUnixTimestamp64Milli({until:Int64}, 'UTC') AS before,
    fromUnixTimestamp64Milli({now:Int64}, 'UTC') AS present
SELECT account, 'held seconds' AS what, if(number = '', concat('bkg_', toString(booking)), number) AS key, 'booking' AS kind, booking AS id,
    toString(toDate32(began)) AS day, held AS expected, seconds AS found
FROM
(
    SELECT b.account AS account, b.id AS booking, b.number AS number, b.status AS status, h.ref != '' AS known,
        if(toUnixTimestamp64Milli(b.actual_pickup_at) = 0, b.pickup_at, b.actual_pickup_at) AS began,
        multiIf(b.status = 'active', present, toUnixTimestamp64Milli(b.actual_return_at) = 0, b.return_at, b.actual_return_at) AS ended,
        greatest(0, intDiv(toUnixTimestamp64Milli(least(ended, if(h.open, ended, h.until_))), 1000)
            - intDiv(toUnixTimestamp64Milli(greatest(began, h.from_)), 1000)) AS held
    FROM (SELECT * FROM bookings FINAL WHERE status IN ('active', 'completed') AND archived_at IS NULL AND vehicle_id != '' AND updated_at < before
        AND blocked_until > before - toIntervalDay(60) AND NOT JSONHas(body, 'vehicle_history', 1)) AS b
    LEFT JOIN
    (
        SELECT account, id AS vehicle, hold.1 AS ref, min(hold.2) AS from_, max(hold.3) AS until_, max(hold.4) AS open
        FROM calendars FINAL
        ARRAY JOIN arrayZip(hold_refs, hold_from, hold_until, hold_open) AS hold
        WHERE kind = 'calendar'
        GROUP BY account, vehicle, ref
    ) AS h ON h.account = b.account AND h.vehicle = toUInt64OrZero(substring(b.vehicle_id, 5)) AND h.ref = concat('bkg_', toString(b.id))
) AS c
LEFT JOIN
(
    SELECT account, booking, toInt64(sum(rented_s)) AS seconds FROM rental_days FINAL GROUP BY account, booking
) AS f ON f.account = c.account AND f.booking = c.booking
WHERE account IN (SELECT DISTINCT account FROM vehicle_days)
    AND (status = 'completed' AND known AND found != expected OR status = 'active' AND found > expected)
ORDER BY account, key
LIMIT {limit:UInt32} BY account
SETTINGS do_not_merge_across_partitions_select_final = 1
