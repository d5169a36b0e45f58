-- Audit: the metres in rental_sums against trips, by rental, of trips that began in one month in UTC: of a trip that goes on while the vehicle
-- was not out that share of its time. Rentals that changed, or of which a trip was written since {until}, are left out, those of which the
-- account may keep trips of the month no longer, and everything until all facts are made by this version of
-- the program. A way of more than 62 days counts on its first 62. EXPLAIN indexes=1: trips by the partition of the month; bookings and sums are read by their narrow columns.
WITH
    (SELECT count() = 0 OR countIf(account = 0 AND version = {version:UInt32}) > 0 FROM fact_runs) AS complete,
    addMonths({month:Date32}, 1) AS next,
    toUnixTimestamp64Milli(toDateTime64({month:Date32}, 3, 'UTC')) AS begins, toUnixTimestamp64Milli(toDateTime64(next, 3, 'UTC')) AS ends,
    rentals AS
    (
        SELECT b.account AS account, b.id AS booking, b.number AS number, b.legs AS legs
        FROM
        (
            SELECT account, id, number, arrayFilter(l -> l.3 > l.2, arrayZip(leg_vehicles, leg_from_ms, leg_until_ms)) AS legs
            FROM bookings FINAL
            WHERE status = 'completed' AND updated_at < fromUnixTimestamp64Milli({until:Int64}, 'UTC') AND archived_at IS NULL AND complete
                AND arrayExists(until -> until > begins, leg_until_ms) AND arrayExists(since -> since < ends + 62 * 86400000, leg_from_ms)
        ) AS b
        INNER JOIN accounts AS a FINAL ON a.id = b.account
        WHERE a.retention_days = 0 OR toDate32(fromUnixTimestamp64Milli({now:Int64}, 'UTC')) - a.retention_days + 9 <= {month:Date32}
    )
SELECT r.account AS account, 'rental metres' AS what, if(number = '', concat('bkg_', toString(r.booking)), number) AS key, 'booking' AS kind,
    r.booking AS id, toString({month:Date32}) AS day, sum(recorded) AS expected, sum(stands) AS found
FROM
(
    SELECT t.account AS account, l.booking AS booking, toInt64(round(if(t.end_ms > t.start_ms,
            t.distance_m * ((least(t.end_ms, l.until_ms) - greatest(t.start_ms, l.from_ms)) / (t.end_ms - t.start_ms)), t.distance_m))) AS recorded,
        toInt64(0) AS stands, t.updated_at AS at
    FROM
    (
        SELECT account, vehicle, updated_at, toUnixTimestamp64Milli(start_at) AS start_ms,
            least(toUnixTimestamp64Milli(end_at), start_ms + 62 * 86400000) AS end_ms, if(deleted, 0, distance_m) AS distance_m
        FROM trips FINAL
        WHERE start_at >= toDateTime64({month:Date32}, 3, 'UTC') AND start_at < toDateTime64(next, 3, 'UTC')
    ) AS t
    INNER JOIN
    (
        SELECT account, booking, leg.1 AS vehicle, leg.2 AS from_ms, leg.3 AS until_ms FROM rentals ARRAY JOIN legs AS leg
    ) AS l ON l.account = t.account AND l.vehicle = t.vehicle
    WHERE t.end_ms >= l.from_ms AND t.start_ms < l.until_ms
    UNION ALL
    SELECT account, booking, 0, on.2, toDateTime64(0, 3, 'UTC')
    FROM rental_sums FINAL
    ARRAY JOIN gps_by_day AS on
    WHERE on.1 >= {month:Date32} AND on.1 < next
) AS d
INNER JOIN rentals AS r ON r.account = d.account AND r.booking = d.booking
WHERE (d.account, d.booking) IN (SELECT account, booking FROM rental_sums)
GROUP BY account, id, number
HAVING expected != found AND max(at) < fromUnixTimestamp64Milli({until:Int64}, 'UTC')
ORDER BY account, key, what
LIMIT {limit:UInt32} BY account
SETTINGS do_not_merge_across_partitions_select_final = 1
