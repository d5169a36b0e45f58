-- Makes what the completed rentals of an account came to, of those in chosen, all of which are among first and last, and writes
-- what differs from what stands. accounts are those of the ledger that are a measure of facts, and measures which. Of trips that began before
-- kept the metres stay as they stand, day by day, as such trips may be gone; a later one counts whenever it comes. Trips are read from 62 days
-- before the first rental on: a longer way that nobody saw counts on its first 62 days, as in facts_vehicles.sql. Entries lie on or after the day of the first
-- pickup, the planned or the actual one, whichever was first: the days of a price begin with the planned one. zone is the account's. What
-- is known of the use is worked out of the record here, and not as columns of bookings, which each write of one would have to plan.
-- EXPLAIN indexes=1: bookings and rental_sums by account and id; trips by account, the months of the rentals and vehicle, and by
-- end_at_minmax; ledger_entries by account, the months from the first pickup on, and booking_bloom.
-- External: chosen (booking UInt64)
INSERT INTO rental_sums (account, booking, computed_at, gps_m, revenue, contribution, gps_by_day, completed, day, vehicle, class, location, channel,
    customer, currency, rented_s, billed_days, metered, odometer_mi, over_mi, unbilled_mi, extra_mile_fee, missing, refuel_charged,
    recharge_charged, returned_at, billed)
WITH
    rentals AS
    (
        SELECT id AS booking, toString(currency) AS unit, leg_vehicles, leg_from_ms, leg_until_ms,
            toDate32(if(toUnixTimestamp64Milli(pickup_at) = 0, actual_pickup_at, least(pickup_at, actual_pickup_at))) AS began_on
        FROM bookings FINAL
        WHERE account = {account:UInt64} AND status = 'completed' AND archived_at IS NULL AND id BETWEEN {first:UInt64} AND {last:UInt64}
            AND id IN (SELECT booking FROM chosen)
    ),
    uses AS
    (
        WITH kind -> arraySum(c -> if(c.type = kind, c.amount.amount, 0), said.charges) AS charged
        SELECT id AS booking, JSONExtract(body, 'Tuple(
                vehicle_history Array(Tuple(`from` String, mileage_mi Nullable(Int64), pickup_mileage_mi Nullable(Int64),
                    pickup_fuel_pct Nullable(Float64), fuel_pct Nullable(Float64), pickup_battery_level Nullable(Float64), battery_level Nullable(Float64))),
                return_mileage_mi Nullable(Int64), pickup_mileage_mi Nullable(Int64),
                pickup_fuel_pct Nullable(Float64), return_fuel_pct Nullable(Float64), pickup_battery_level Nullable(Float64), return_battery_level Nullable(Float64),
                rate_snapshot Tuple(included_mi Nullable(Int64), extra_mile_fee Tuple(amount Int64)),
                charges Array(Tuple(type String, quantity Int64, amount Tuple(amount Int64))))') AS said,
            arrayFilter(s -> s.`from` != '', said.vehicle_history) AS swaps,
            arrayPushBack(arrayMap(s -> s.mileage_mi - s.pickup_mileage_mi, swaps), said.return_mileage_mi - said.pickup_mileage_mi) AS leg_mi,
            arrayPushBack(arrayMap(s -> s.pickup_fuel_pct - s.fuel_pct, swaps), said.pickup_fuel_pct - said.return_fuel_pct) AS leg_fuel,
            arrayPushBack(arrayMap(s -> s.pickup_battery_level - s.battery_level, swaps), said.pickup_battery_level - said.return_battery_level) AS leg_battery,
            arraySum(c -> if(c.type = 'late_return', c.quantity, 0), said.charges) AS late_days,
            -- what each charged late day brings, as price.AtReturn counts it; a line of one price for all of them says 1
            if(late_days > 0, greatest(late_days, intDiv(dateDiff('second', return_at, actual_return_at) + 86399, 86400)), 0) AS late,
            said.rate_snapshot.included_mi + if(bookings.billed_days = 0, 0, intDiv(said.rate_snapshot.included_mi * late, bookings.billed_days)) AS allowed,
            -- a zone that the server does not know must stop no facts
            multiIf(timezone IN (SELECT time_zone FROM system.time_zones), toString(timezone), {zone:String} = '', 'UTC', {zone:String}) AS local,
            if(returned_on > toDate32('1970-01-01'), returned_on, toDate32(formatDateTime(actual_return_at, '%F', local))) AS day,
            leg_vehicles[-1] AS vehicle, toUInt64OrZero(substring(vehicle_class_id, 5)) AS class, toUInt64OrZero(substring(pickup_location_id, 5)) AS location,
            toString(if(bookings.channel = '', 'direct', bookings.channel)) AS channel, toUInt64OrZero(substring(customer_id, 5)) AS customer,
            toString(bookings.currency) AS currency, toInt64(dateDiff('second', actual_pickup_at, actual_return_at)) AS rented_s, billed_days,
            NOT has(leg_mi, NULL) AS metered, if(metered, toInt64(arraySum(x -> ifNull(x, 0), leg_mi)), 0) AS odometer_mi,
            if(metered, toInt64(ifNull(greatest(odometer_mi - allowed, 0), 0)), 0) AS over_mi,
            said.rate_snapshot.extra_mile_fee.amount AS extra_mile_fee,
            if(extra_mile_fee > 0, greatest(over_mi - intDiv(charged('mileage'), extra_mile_fee), 0), 0) AS unbilled_mi,
            CAST(arrayFilter(m -> m.2 > 0 OR m.3 > 0, arrayMap((v, f, b) -> (v, greatest(ifNull(f, 0.), 0.), greatest(ifNull(b, 0.), 0.)), leg_vehicles, leg_fuel,
                leg_battery)), 'Array(Tuple(vehicle UInt64, fuel_pct Float64, battery_pct Float64))') AS missing,
            charged('refuel') AS refuel_charged, charged('recharge') AS recharge_charged, actual_return_at AS returned_at, total_minor - tax_minor AS billed
        FROM bookings FINAL
        WHERE account = {account:UInt64} AND status = 'completed' AND archived_at IS NULL AND id BETWEEN {first:UInt64} AND {last:UInt64}
            AND id IN (SELECT booking FROM chosen)
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
SELECT {account:UInt64}, g.booking, fromUnixTimestamp64Milli(greatest(toUnixTimestamp64Milli(now64(3)), g.made_at + 1), 'UTC'), arraySum(d -> d.2, g.by_day), g.earned,
    g.left_over, g.by_day, g.completed, u.day, u.vehicle, u.class, u.location, u.channel, u.customer, u.currency, u.rented_s, u.billed_days, u.metered, u.odometer_mi, u.over_mi,
    u.unbilled_mi, u.extra_mile_fee, u.missing, u.refuel_charged, u.recharge_charged, u.returned_at, u.billed
FROM
(
    SELECT f.booking AS booking, max(f.fresh) AS completed, max(f.was) AS was, max(f.was_completed) AS was_completed, max(f.made_at) AS made_at,
        sum(f.revenue) AS earned, sum(f.contribution) AS left_over, sumMap(f.gps.1, f.gps.2) AS seen,
        arrayMap((day, metres) -> (toDate32(day), metres), seen.1, seen.2) AS fresh_days,
        arraySort(arrayFlatten(groupArray(f.stood))) AS stood_days,
        multiIf(NOT completed, stood_days, made_at = 0, fresh_days, arrayConcat(arrayFilter(d -> d.1 < {kept:Date32}, stood_days),
            arrayFilter(d -> d.1 >= {kept:Date32}, fresh_days))) AS by_day
    FROM
    (
        SELECT booking, true AS fresh, CAST(([], []), 'Tuple(Array(Int32), Array(Int64))') AS gps, toInt64(0) AS revenue,
            toInt64(0) AS contribution, toUInt64(0) AS was, false AS was_completed, toInt64(0) AS made_at, CAST([], 'Array(Tuple(Date32, Int64))') AS stood
        FROM rentals
        UNION ALL
        SELECT legs.booking, false, sumMap([toInt32(intDiv(t.start_ms, 86400000))],
            [toInt64(round(t.distance_m * share(t.start_ms, t.end_ms, legs.from_ms, legs.until_ms)))]), 0, 0, 0, false, 0, []
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
            'revenue_protection', 'revenue_fees', 'revenue_damage', 'discounts', 'refunds')), -sum(e.amount), 0, false, 0, []
        FROM
        (
            SELECT booking, toString(currency) AS unit, amount,
                transform(toString(ledger_account), {accounts:Array(String)}, {measures:Array(String)}, '') AS measure
            FROM ledger_entries FINAL
            PREWHERE account = {account:UInt64} AND local_date >= first_day - 1 AND booking BETWEEN {first:UInt64} AND {last:UInt64}
                AND booking IN (SELECT booking FROM chosen)
        ) AS e
        WHERE e.measure IN ('revenue_time', 'revenue_mileage', 'revenue_extras', 'revenue_protection', 'revenue_fees', 'revenue_damage', 'discounts',
                'refunds', 'platform_fees', 'cost_energy', 'cost_maintenance', 'cost_other_variable', 'toll_recharge')
            AND (e.booking, e.unit) IN (SELECT booking, unit FROM rentals)
        GROUP BY e.booking
        UNION ALL
        SELECT booking, false, ([], []), 0, 0, cityHash64(revenue, contribution, gps_by_day, day, vehicle, class, location, toString(channel), customer, toString(currency), rented_s,
                billed_days, metered, odometer_mi, over_mi, unbilled_mi, extra_mile_fee, missing, refuel_charged, recharge_charged,
                returned_at, billed), completed, toUnixTimestamp64Milli(computed_at), gps_by_day
        FROM rental_sums FINAL
        WHERE account = {account:UInt64} AND booking BETWEEN {first:UInt64} AND {last:UInt64}
            AND booking IN (SELECT booking FROM chosen)
    ) AS f
    GROUP BY f.booking
) AS g
LEFT JOIN uses AS u ON u.booking = g.booking
WHERE if(g.completed, NOT g.was_completed OR g.was != cityHash64(g.earned, g.left_over, g.by_day, u.day, u.vehicle, u.class, u.location, u.channel, u.customer, u.currency, u.rented_s,
    u.billed_days, u.metered, u.odometer_mi, u.over_mi, u.unbilled_mi, u.extra_mile_fee, u.missing, u.refuel_charged, u.recharge_charged, u.returned_at, u.billed), g.was_completed)
SETTINGS do_not_merge_across_partitions_select_final = 1
