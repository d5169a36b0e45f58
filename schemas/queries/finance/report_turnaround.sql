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
-- whatever rental has the vehicle next, also by a swap: legs are put in order vehicle by vehicle, which is a quarter of the work of a
-- window over all of them. What a return counts in is a number (its place) until quantiles are merged by the key. The totals are of the
-- same reads, also by tag, of which a vehicle has many. EXPLAIN indexes=1: bookings and vehicle_statuses by the account.
WITH
    (SELECT groupUniqArray(if(channel = '', 'direct', channel)) FROM bookings WHERE account = {account:UInt64} AND {group:String} = 'channel') AS ways,
    quantilesExactInclusiveIfMerge(0.5, 0.9)(ready_hours) AS ready,
    quantilesExactInclusiveIfMerge(0.5, 0.9)(gap_hours) AS gap
SELECT part.1 AS key, part.2 AS everything,
    sum(came) AS returns, sum(were_ready) AS readied, sum(ready_s) AS ready_s,
    if(readied = 0, NULL, ready[1]) AS ready_median_hours, if(readied = 0, NULL, ready[2]) AS ready_p90_hours,
    sum(rented) AS repicked, sum(gap_s) AS gap_s,
    if(repicked = 0, NULL, gap[1]) AS gap_median_hours, if(repicked = 0, NULL, gap[2]) AS gap_p90_hours
FROM (
    SELECT b.*, arrayConcat(arrayMap(key -> (key, toUInt64(0)), multiIf(
            {group:String} IN ('day', 'week', 'month', 'quarter', 'year'), [toString(toDate32(toInt32(b.place)))],
            {group:String} IN ('vehicle', 'class', 'location', 'customer'), [toString(b.place)],
            {group:String} = 'channel', [ways[b.place]],
            if(true/*if by_traits*/ AND empty(keys.all)/*end by_traits*/, [''], CAST([], 'Array(String)')/*if by_traits*/ || keys.all/*end by_traits*/))), if({totals_by_tag:Bool}, [('', toUInt64(1))], [])) AS parts
    FROM (
        SELECT place, count() AS came, countIf(ready) AS were_ready, sumIf(intDiv(ready_ms + 500, 1000), ready) AS ready_s,
            quantilesExactInclusiveIfState(0.5, 0.9)(ready_ms / 3600000, ready) AS ready_hours,
            countIf(again) AS rented, sumIf(intDiv(gap_ms + 500, 1000), again) AS gap_s,
            quantilesExactInclusiveIfState(0.5, 0.9)(gap_ms / 3600000, again) AS gap_hours
        FROM (
            SELECT r.place AS place, r.next_ms > 0 AS again, r.next_ms - r.until_ms AS gap_ms, s.since_ms - r.until_ms AS ready_ms,
                s.since_ms >= r.until_ms AND (r.next_ms = 0 OR s.since_ms <= r.next_ms) AS ready
            FROM (
                SELECT vehicle, leg.3 AS until_ms, leg.4 AS place, next_ms
                FROM (
                    SELECT vehicle, arraySort(arrayZip(groupArray(from_ms), groupArray(id), groupArray(back_ms), groupArray(place))) AS legs,
                        arrayPushBack(arrayPopFront(legs.1), 0) AS nexts
                    FROM (
                        SELECT id, leg.1 AS vehicle, leg.2 AS from_ms,
                            -- when the vehicle came back, of a leg that is a return which is asked for
                            if(status = 'completed' AND vehicle = leg_vehicles[-1] AND from_ms = leg_from_ms[-1] AND day BETWEEN {from:Date32} AND {to:Date32}
                                AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
                                AND (empty({classes:Array(UInt64)}) OR class IN {classes:Array(UInt64)})
                                AND (empty({locations:Array(UInt64)}) OR location IN {locations:Array(UInt64)})
                                AND (empty({channels:Array(String)}) OR way IN {channels:Array(String)})
                                AND (empty({customers:Array(UInt64)}) OR customer IN {customers:Array(UInt64)})
                                /*if chosen*/AND (empty({owners:Array(UInt64)}) AND empty({tags:Array(String)}) AND empty({makes:Array(String)}) AND empty({models:Array(String)})
                                    OR vehicle IN (/*query vehicles_held*/))/*end chosen*/, leg.3, 0) AS back_ms,
                            if({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toUInt64(toInt32(dateTrunc(
                                if({group:String} IN ('week', 'month', 'quarter', 'year'), {group:String}, 'day'), day))),
                            if({group:String} = 'class', class, if({group:String} = 'location', location, if({group:String} = 'customer', customer,
                            if({group:String} = 'channel', indexOf(ways, way), if({group:String} = 'total', 0, vehicle)))))) AS place
                        FROM (
                            SELECT id, status, leg_vehicles, leg_from_ms, toUInt64OrZero(substring(vehicle_class_id, 5)) AS class,
                                toUInt64OrZero(substring(pickup_location_id, 5)) AS location, if(channel = '', 'direct', channel) AS way,
                                if({group:String} = 'customer' OR notEmpty({customers:Array(UInt64)}), toUInt64OrZero(substring(customer_id, 5)), 0) AS customer,
                                if(returned_on > toDate32('1970-01-01'), returned_on, toDate32(formatDateTime(actual_return_at, '%F',
                                    if(timezone = '', if({zone:String} = '', 'UTC', {zone:String}), timezone)))) AS day,
                                arrayJoin(arrayZip(leg_vehicles, leg_from_ms, leg_until_ms)) AS leg
                            FROM bookings FINAL
                            WHERE account = {account:UInt64} AND archived_at IS NULL AND status IN ('active', 'completed')
                                AND (status = 'active' OR actual_return_at >= toDateTime64({from:Date32}, 3, 'UTC') - INTERVAL 1 DAY)
                        )
                    )
                    GROUP BY vehicle
                )
                ARRAY JOIN legs AS leg, nexts AS next_ms
                WHERE until_ms > 0
            ) AS r
            ASOF LEFT JOIN (
                SELECT vehicle, toUnixTimestamp64Milli(since) AS since_ms FROM vehicle_statuses FINAL
                WHERE account = {account:UInt64} AND status = 'available' AND since >= toDateTime64({from:Date32}, 3, 'UTC') - INTERVAL 1 DAY
            ) AS s ON s.vehicle = r.vehicle AND s.since_ms >= r.until_ms
        )
        GROUP BY place
    ) AS b
    /*if by_traits*/LEFT JOIN (SELECT vehicle, groupArray(key) AS all FROM (/*query vehicle_keys*/) GROUP BY vehicle) AS keys ON keys.vehicle = b.place/*end by_traits*/
)
ARRAY JOIN parts AS part
GROUP BY key, everything
SETTINGS do_not_merge_across_partitions_select_final = 1, short_circuit_function_evaluation = 'force_enable'
