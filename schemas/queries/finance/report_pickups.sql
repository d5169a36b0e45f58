-- report: Pickups
-- about: Bookings by the day of their planned pickup: how many came of it, how many were not picked up by anybody, and for how long
--   vehicles were rented.
-- bases: accrual
-- groups: total day week month quarter year vehicle make model class location channel customer owner tag
-- places: booking
-- figure planned count: Bookings whose planned pickup is in the span and that were not cancelled: those below together.
-- figure rentals count: Of these, those that were picked up.
-- figure no_shows count: Of these, those for which nobody came.
-- figure to_come count: Of these, confirmed ones that nobody has picked up yet.
-- figure billed_days days: The days that the rentals are billed for.
-- figure length_1_day count: Rentals of one billed day.
-- figure length_2_3_days count: Rentals of two or three billed days.
-- figure length_4_6_days count: Rentals of four to six billed days.
-- figure length_7_13_days count: Rentals of seven to thirteen billed days.
-- figure length_14_29_days count: Rentals of 14 to 29 billed days.
-- figure length_30_days count: Rentals of 30 billed days or more.
-- figure length_median_days median: Billed days of a rental: half of them are longer.
-- ratio length_mean_days days = billed_days / rentals: Billed days of a rental, on average.
-- ratio no_show_rate percent = no_shows / expected: Bookings for which nobody came of all that were due.
-- figure expected count: Bookings that were due: rentals and those for which nobody came.
-- A pickup is of the local day for which it was planned, in the zone of the booking. Cancelled bookings are in none of the figures.
-- What a pickup counts in is a number (its place) until sums and the median are merged by the key. The totals are of the same reads;
-- by tag they are not, as a vehicle has many. EXPLAIN indexes=1: bookings by the account and pickup_at_minmax.
WITH
    (SELECT groupUniqArray(if(channel = '', 'direct', channel)) FROM bookings WHERE account = {account:UInt64} AND {group:String} = 'channel') AS ways
SELECT
    multiIf(
        {group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toString(toDate32(toInt32(b.place))),
        {group:String} IN ('vehicle', 'class', 'location', 'customer'), toString(b.place),
        {group:String} = 'channel', ways[b.place],
        ''/*if by_traits*/ || ifNull(keys.key, '')/*end by_traits*/) AS key, grouping(key) AS everything,
    sum(b.n) AS planned, sum(b.n_out) AS rentals, sum(b.n_missed) AS no_shows, sum(b.n_ahead) AS to_come, rentals + no_shows AS expected,
    sum(b.out_days) AS billed_days, sum(b.length_1) AS length_1_day, sum(b.length_2) AS length_2_3_days, sum(b.length_4) AS length_4_6_days,
    sum(b.length_7) AS length_7_13_days, sum(b.length_14) AS length_14_29_days, sum(b.length_30) AS length_30_days,
    if(rentals = 0, NULL, quantileExactInclusiveIfMerge(0.5)(b.lengths)) AS length_median_days
FROM (
    SELECT
        if({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toUInt64(toInt32(dateTrunc(
            if({group:String} IN ('week', 'month', 'quarter', 'year'), {group:String}, 'day'), day))),
        if({group:String} = 'class', class, if({group:String} = 'location', location, if({group:String} = 'customer', customer,
        if({group:String} = 'channel', indexOf(ways, channel), if({group:String} = 'total', 0, vehicle)))))) AS place,
        count() AS n, countIf(out) AS n_out, countIf(status = 'no_show') AS n_missed, countIf(status = 'confirmed') AS n_ahead,
        sumIf(billed_days, out) AS out_days, countIf(out AND billed_days <= 1) AS length_1,
        countIf(out AND billed_days BETWEEN 2 AND 3) AS length_2, countIf(out AND billed_days BETWEEN 4 AND 6) AS length_4,
        countIf(out AND billed_days BETWEEN 7 AND 13) AS length_7, countIf(out AND billed_days BETWEEN 14 AND 29) AS length_14,
        countIf(out AND billed_days >= 30) AS length_30, quantileExactInclusiveIfState(0.5)(billed_days, out) AS lengths
    FROM (
        SELECT leg_vehicles[-1] AS vehicle, toUInt64OrZero(substring(vehicle_class_id, 5)) AS class,
            toUInt64OrZero(substring(pickup_location_id, 5)) AS location, CAST(if(bookings.channel = '', 'direct', bookings.channel), 'String') AS channel,
            if({group:String} = 'customer' OR notEmpty({customers:Array(UInt64)}), toUInt64OrZero(substring(customer_id, 5)), 0) AS customer, status, bookings.billed_days, status IN ('active', 'completed') AS out,
            toDate32(formatDateTime(pickup_at, '%F', if(timezone = '', if({zone:String} = '', 'UTC', {zone:String}), timezone))) AS day
        FROM bookings FINAL
        WHERE account = {account:UInt64} AND archived_at IS NULL AND status IN ('confirmed', 'active', 'completed', 'no_show')
            AND pickup_at >= toDateTime64({from:Date32}, 3, 'UTC') - INTERVAL 1 DAY
            AND pickup_at < toDateTime64({to:Date32}, 3, 'UTC') + INTERVAL 2 DAY AND day BETWEEN {from:Date32} AND {to:Date32}
            AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
            AND (empty({classes:Array(UInt64)}) OR class IN {classes:Array(UInt64)})
            AND (empty({locations:Array(UInt64)}) OR location IN {locations:Array(UInt64)})
            AND (empty({channels:Array(String)}) OR channel IN {channels:Array(String)})
            AND (empty({customers:Array(UInt64)}) OR customer IN {customers:Array(UInt64)})
            /*if chosen*/AND (empty({owners:Array(UInt64)}) AND empty({tags:Array(String)}) AND empty({makes:Array(String)}) AND empty({models:Array(String)})
                OR vehicle IN (/*query vehicles_held*/))/*end chosen*/
    )
    GROUP BY place
) AS b
/*if by_traits*/LEFT JOIN (/*query vehicle_keys*/) AS keys ON keys.vehicle = b.place/*end by_traits*/
GROUP BY GROUPING SETS ((key), ())
HAVING planned > 0 AND ({totals:Bool} OR NOT everything)
SETTINGS do_not_merge_across_partitions_select_final = 1
