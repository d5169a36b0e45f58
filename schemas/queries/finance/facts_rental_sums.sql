-- Makes what the completed rentals of an account came to, of bookings among first and last and, unless it is empty, in bookings, and writes
-- what differs from what stands. accounts are those of the ledger that are a measure of facts, and measures which. Of rentals that began
-- before kept the metres stay as they stand, as trips may be gone. Trips are read from 62 days before the first rental on: a way that nobody
-- saw may be as long, as in facts_vehicles.sql. Entries lie on or after the day of the first pickup, the planned or the actual one, whichever
-- was first: the days of a price begin with the planned one.
-- EXPLAIN indexes=1: bookings and rental_sums by account and id; trips by account, the months of the rentals and vehicle, and by
-- end_at_minmax; ledger_entries by account, the months from the first pickup on, and booking_bloom.
INSERT INTO rental_sums (account, booking, computed_at, gps_m, revenue, contribution)
WITH
    rentals AS
    (
        SELECT id AS booking, toString(currency) AS unit, leg_vehicles, leg_from_ms, leg_until_ms,
            toDate32(if(toUnixTimestamp64Milli(pickup_at) = 0, actual_pickup_at, least(pickup_at, actual_pickup_at))) AS began_on
        FROM bookings FINAL
        WHERE account = {account:UInt64} AND status = 'completed' AND id BETWEEN {first:UInt64} AND {last:UInt64}
            AND (empty({bookings:Array(UInt64)}) OR id IN {bookings:Array(UInt64)})
    ),
    legs AS
    (
        SELECT booking, leg.1 AS vehicle, leg.2 AS from_ms, leg.3 AS until_ms
        FROM rentals ARRAY JOIN arrayZip(leg_vehicles, leg_from_ms, leg_until_ms) AS leg
        WHERE leg.3 > leg.2
    ),
    (SELECT (min(from_ms), max(until_ms)) FROM legs) AS reach,
    (SELECT if(count() = 0, toDate32('2299-12-31'), min(began_on)) FROM rentals) AS first_day,
    (a, b, since, until) -> if(b > a, greatest(least(b, until) - greatest(a, since), 0) / (b - a), 1) AS share
SELECT {account:UInt64}, booking, fromUnixTimestamp64Milli(greatest(toUnixTimestamp64Milli(now64(3)), made_at + 1), 'UTC'), metres, earned, left_over
FROM
(
    SELECT f.booking AS booking, max(f.fresh) AS completed, max(f.was) AS was, max(f.made_at) AS made_at,
        if(max(f.kept) AND made_at > 0, sum(f.stood_m), sum(f.gps_m)) AS metres, sum(f.revenue) AS earned, sum(f.contribution) AS left_over
    FROM
    (
        SELECT booking, true AS fresh, began_on < {kept:Date32} AS kept, toInt64(0) AS gps_m, toInt64(0) AS revenue, toInt64(0) AS contribution,
            toUInt64(0) AS was, toInt64(0) AS made_at, toInt64(0) AS stood_m
        FROM rentals
        UNION ALL
        SELECT legs.booking, false, false, toInt64(round(t.distance_m * share(t.start_ms, t.end_ms, legs.from_ms, legs.until_ms))), 0, 0, 0, 0, 0
        FROM
        (
            SELECT vehicle, toUnixTimestamp64Milli(start_at) AS start_ms, toUnixTimestamp64Milli(end_at) AS end_ms, distance_m
            FROM trips FINAL
            WHERE account = {account:UInt64} AND NOT deleted AND vehicle IN (SELECT vehicle FROM legs)
                AND start_at >= fromUnixTimestamp64Milli(toInt64(reach.1 - 62 * 86400000), 'UTC')
                AND start_at <= fromUnixTimestamp64Milli(toInt64(reach.2), 'UTC') AND end_at >= fromUnixTimestamp64Milli(toInt64(reach.1), 'UTC')
        ) AS t
        INNER JOIN legs ON legs.vehicle = t.vehicle
        WHERE t.end_ms >= legs.from_ms AND t.start_ms < legs.until_ms
        UNION ALL
        SELECT e.booking, false, false, 0, -sumIf(e.amount, e.measure IN ('revenue_time', 'revenue_mileage', 'revenue_extras',
            'revenue_protection', 'revenue_fees', 'revenue_damage', 'discounts', 'refunds')), -sum(e.amount), 0, 0, 0
        FROM
        (
            SELECT booking, toString(currency) AS unit, amount,
                transform(toString(ledger_account), {accounts:Array(String)}, {measures:Array(String)}, '') AS measure
            FROM ledger_entries FINAL
            PREWHERE account = {account:UInt64} AND local_date >= first_day - 1 AND booking BETWEEN {first:UInt64} AND {last:UInt64}
                AND (empty({bookings:Array(UInt64)}) OR booking IN {bookings:Array(UInt64)})
        ) AS e
        WHERE e.measure IN ('revenue_time', 'revenue_mileage', 'revenue_extras', 'revenue_protection', 'revenue_fees', 'revenue_damage', 'discounts',
                'refunds', 'platform_fees', 'cost_energy', 'cost_maintenance', 'cost_other_variable', 'toll_recharge')
            AND (e.booking, e.unit) IN (SELECT booking, unit FROM rentals)
        GROUP BY e.booking
        UNION ALL
        SELECT booking, false, false, 0, 0, 0, cityHash64(gps_m, revenue, contribution), toUnixTimestamp64Milli(computed_at), gps_m
        FROM rental_sums FINAL
        WHERE account = {account:UInt64} AND booking BETWEEN {first:UInt64} AND {last:UInt64}
            AND (empty({bookings:Array(UInt64)}) OR booking IN {bookings:Array(UInt64)})
    ) AS f
    GROUP BY f.booking
)
WHERE completed AND was != cityHash64(metres, earned, left_over)
SETTINGS do_not_merge_across_partitions_select_final = 1
