-- report: Turnaround
-- about: How long vehicles were idle after rentals: from the return until they were available, and until the next pickup.
-- bases: accrual
-- groups: total day week month quarter year vehicle make model class location channel customer owner tag
-- places: booking
-- figure returns count: Rentals whose vehicle came back in the span.
-- figure readied count: Of these, returns after which the vehicle was available, before or without a next rental.
-- figure ready_s seconds: Seconds from these returns until the vehicle was available.
-- figure ready_median_hours median: Hours from a return until the vehicle was available: half of them took longer.
-- figure ready_p90_hours median: Hours from a return until the vehicle was available that a tenth exceeded.
-- figure repicked count: Of the returns, those after which the vehicle was rented again.
-- figure gap_s seconds: Seconds from these returns to the next pickup.
-- figure gap_median_hours median: Hours from a return to the vehicle's next pickup: half of them took longer.
-- figure gap_p90_hours median: Hours from a return to the vehicle's next pickup that a tenth exceeded.
-- ratio ready_mean_hours hours = ready_s / (readied * 3600): Hours from a return until the vehicle was available, on average.
-- ratio gap_mean_hours hours = gap_s / (repicked * 3600): Hours from a return to the next pickup, on average.
-- A return is of its local day in the zone of the booking, and of the vehicle that came back then. The next pickup is that of
-- whatever rental has the vehicle next, also by a swap. The totals are of the same reads; by tag they are not, as a vehicle has many.
-- EXPLAIN indexes=1: bookings and vehicle_statuses by the account.
SELECT
    multiIf(
        {group:String} = 'total', '',
        {group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toString(toDate32(dateTrunc(
            if({group:String} IN ('week', 'month', 'quarter', 'year'), {group:String}, 'day'), b.day))),
        {group:String} = 'vehicle', toString(b.vehicle),
        {group:String} = 'class', toString(b.class),
        {group:String} = 'location', toString(b.location),
        {group:String} = 'channel', b.channel,
        {group:String} = 'customer', toString(b.customer),
        ifNull(keys.key, '')) AS key, grouping(key) AS everything,
    count() AS returns, countIf(ready) AS readied, sumIf(intDiv(ready_ms + 500, 1000), ready) AS ready_s,
    if(readied = 0, NULL, quantileExactInclusiveIf(0.5)(ready_ms / 3600000, ready)) AS ready_median_hours,
    if(readied = 0, NULL, quantileExactInclusiveIf(0.9)(ready_ms / 3600000, ready)) AS ready_p90_hours,
    countIf(again) AS repicked, sumIf(intDiv(gap_ms + 500, 1000), again) AS gap_s,
    if(repicked = 0, NULL, quantileExactInclusiveIf(0.5)(gap_ms / 3600000, again)) AS gap_median_hours,
    if(repicked = 0, NULL, quantileExactInclusiveIf(0.9)(gap_ms / 3600000, again)) AS gap_p90_hours
FROM (
    SELECT *, next_ms > 0 AS again, next_ms - until_ms AS gap_ms,
        s.since_ms >= until_ms AND (next_ms = 0 OR s.since_ms <= next_ms) AS ready, s.since_ms - until_ms AS ready_ms
    FROM (
        SELECT leg.1 AS vehicle, leg.3 AS until_ms, class, location, channel, customer, last, day,
            leadInFrame(leg.2, 1, 0) OVER (PARTITION BY leg.1 ORDER BY leg.2, id ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING) AS next_ms
        FROM (
            SELECT id, leg_vehicles[-1] AS last, toUInt64OrZero(substring(vehicle_class_id, 5)) AS class,
                toUInt64OrZero(substring(pickup_location_id, 5)) AS location, CAST(if(bookings.channel = '', 'direct', bookings.channel), 'String') AS channel,
                toUInt64OrZero(substring(customer_id, 5)) AS customer, leg_from_ms[-1] AS last_from, status,
                toDate32(formatDateTime(actual_return_at, '%F', if(timezone = '', if({zone:String} = '', 'UTC', {zone:String}), timezone))) AS day,
                arrayJoin(arrayZip(leg_vehicles, leg_from_ms, leg_until_ms)) AS leg
            FROM bookings FINAL
            WHERE account = {account:UInt64} AND archived_at IS NULL AND status IN ('active', 'completed')
                AND (status = 'active' OR actual_return_at >= toDateTime64({from:Date32}, 3, 'UTC') - INTERVAL 1 DAY)
        )
        QUALIFY status = 'completed' AND last = leg.1 AND last_from = leg.2
    ) AS r
    ASOF LEFT JOIN (
        SELECT vehicle, toUnixTimestamp64Milli(since) AS since_ms FROM vehicle_statuses FINAL
        WHERE account = {account:UInt64} AND status = 'available' AND since >= toDateTime64({from:Date32}, 3, 'UTC') - INTERVAL 1 DAY
    ) AS s ON s.vehicle = r.vehicle AND s.since_ms >= r.until_ms
    WHERE day BETWEEN {from:Date32} AND {to:Date32}
        AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
        AND (empty({classes:Array(UInt64)}) OR class IN {classes:Array(UInt64)})
        AND (empty({locations:Array(UInt64)}) OR location IN {locations:Array(UInt64)})
        AND (empty({channels:Array(String)}) OR channel IN {channels:Array(String)})
        AND (empty({customers:Array(UInt64)}) OR customer IN {customers:Array(UInt64)})
        AND vehicle IN (/*query vehicles_held*/)
) AS b
LEFT JOIN (/*query vehicle_keys*/) AS keys ON keys.vehicle = b.vehicle
GROUP BY GROUPING SETS ((key), ())
HAVING count() > 0 AND ({totals:Bool} OR NOT everything)
SETTINGS do_not_merge_across_partitions_select_final = 1
