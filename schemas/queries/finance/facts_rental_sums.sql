-- Makes what the completed rentals of an account came to, of bookings among first and last and, unless it is empty, in bookings, and writes
-- what differs from what stands. accounts are those of the ledger that are a measure of facts, and measures which. Of trips that began before
-- kept the metres stay as they stand, day by day, as such trips may be gone; a later one counts whenever it comes. Trips are read from 62 days
-- before the first rental on: a longer way that nobody saw counts on its first 62 days, as in facts_vehicles.sql. Entries lie on or after the day of the first
-- pickup, the planned or the actual one, whichever was first: the days of a price begin with the planned one.
-- EXPLAIN indexes=1: bookings and rental_sums by account and id; trips by account, the months of the rentals and vehicle, and by
-- end_at_minmax; ledger_entries by account, the months from the first pickup on, and booking_bloom.
INSERT INTO rental_sums (account, booking, computed_at, gps_m, revenue, contribution, gps_by_day)
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
SELECT {account:UInt64}, booking, fromUnixTimestamp64Milli(greatest(toUnixTimestamp64Milli(now64(3)), made_at + 1), 'UTC'), arraySum(d -> d.2, by_day), earned,
    left_over, by_day
FROM
(
    SELECT f.booking AS booking, max(f.fresh) AS completed, max(f.was) AS was, max(f.made_at) AS made_at,
        sum(f.revenue) AS earned, sum(f.contribution) AS left_over, sumMap(f.gps.1, f.gps.2) AS seen,
        arrayMap((day, metres) -> (toDate32(day), metres), seen.1, seen.2) AS fresh_days,
        arraySort(arrayFlatten(groupArray(f.stood))) AS stood_days,
        if(made_at = 0, fresh_days, arrayConcat(arrayFilter(d -> d.1 < {kept:Date32}, stood_days),
            arrayFilter(d -> d.1 >= {kept:Date32}, fresh_days))) AS by_day
    FROM
    (
        SELECT booking, true AS fresh, CAST(([], []), 'Tuple(Array(Int32), Array(Int64))') AS gps, toInt64(0) AS revenue,
            toInt64(0) AS contribution, toUInt64(0) AS was, toInt64(0) AS made_at, CAST([], 'Array(Tuple(Date32, Int64))') AS stood
        FROM rentals
        UNION ALL
        SELECT legs.booking, false, sumMap([toInt32(intDiv(t.start_ms, 86400000))],
            [toInt64(round(t.distance_m * share(t.start_ms, t.end_ms, legs.from_ms, legs.until_ms)))]), 0, 0, 0, 0, []
        FROM
        (
            SELECT vehicle, toUnixTimestamp64Milli(start_at) AS start_ms, least(toUnixTimestamp64Milli(end_at), start_ms + 62 * 86400000) AS end_ms,
                distance_m
            FROM trips FINAL
            WHERE account = {account:UInt64} AND NOT deleted AND vehicle IN (SELECT vehicle FROM legs)
                AND start_at >= fromUnixTimestamp64Milli(toInt64(reach.1 - 62 * 86400000), 'UTC')
                AND start_at <= fromUnixTimestamp64Milli(toInt64(reach.2), 'UTC') AND end_at >= fromUnixTimestamp64Milli(toInt64(reach.1), 'UTC')
        ) AS t
        INNER JOIN legs ON legs.vehicle = t.vehicle
        WHERE t.end_ms >= legs.from_ms AND t.start_ms < legs.until_ms
        GROUP BY legs.booking
        UNION ALL
        SELECT e.booking, false, ([], []), -sumIf(e.amount, e.measure IN ('revenue_time', 'revenue_mileage', 'revenue_extras',
            'revenue_protection', 'revenue_fees', 'revenue_damage', 'discounts', 'refunds')), -sum(e.amount), 0, 0, []
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
        SELECT booking, false, ([], []), 0, 0, cityHash64(revenue, contribution, gps_by_day), toUnixTimestamp64Milli(computed_at), gps_by_day
        FROM rental_sums FINAL
        WHERE account = {account:UInt64} AND booking BETWEEN {first:UInt64} AND {last:UInt64}
            AND (empty({bookings:Array(UInt64)}) OR booking IN {bookings:Array(UInt64)})
    ) AS f
    GROUP BY f.booking
)
WHERE completed AND was != cityHash64(earned, left_over, by_day)
SETTINGS do_not_merge_across_partitions_select_final = 1
