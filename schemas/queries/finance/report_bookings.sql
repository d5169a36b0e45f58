-- report: Bookings
-- about: Bookings by when they were made: how long ahead, and how many of them were cancelled since. Pickups of a time have a report
--   of their own, as the two are never the same bookings.
-- bases: accrual
-- groups: total day week month quarter year vehicle make model class location channel customer owner tag
-- places: booking
-- figure made count: Bookings made in the span, holds that nobody confirmed among them.
-- figure lapsed count: Of these, holds that lapsed.
-- figure pending count: Of these, holds that nobody has confirmed yet.
-- figure bookings count: Those that were more than a hold: all that were made less those that lapsed or are pending.
-- figure cancelled count: Of these bookings, cancelled ones, whenever that was.
-- figure cancelled_by_customer count: Of these, those that the customer cancelled.
-- figure cancelled_by_host count: Of these, those that the host cancelled.
-- figure cancelled_by_operator count: Of these, those that the staff cancelled.
-- figure cancelled_by_system count: Of these, those that nobody cancelled by hand, such as those that a channel took back.
-- figure value money: What the bookings were agreed to come to, without taxes, and without what is charged later.
-- figure cancelled_value money: Of this, the value of cancelled ones.
-- figure led count: Bookings that were made before their pickup. Others were written down afterwards and have no lead time.
-- figure lead_s seconds: Seconds from when they were made to the planned pickup.
-- figure lead_median_days median: Days from when a booking was made to the planned pickup: half of the bookings were made later.
-- figure lead_p90_days median: Days ahead than which a tenth of the bookings were made earlier.
-- figure lead_0_days count: Bookings made less than a day ahead.
-- figure lead_1_2_days count: Bookings made one or two days ahead.
-- figure lead_3_6_days count: Bookings made three to six days ahead.
-- figure lead_7_13_days count: Bookings made seven to thirteen days ahead.
-- figure lead_14_29_days count: Bookings made 14 to 29 days ahead.
-- figure lead_30_89_days count: Bookings made 30 to 89 days ahead.
-- figure lead_90_days count: Bookings made 90 days ahead or more.
-- ratio lead_mean_days days = lead_s / (led * 86400): Days from when a booking was made to the planned pickup, on average.
-- ratio cancellation_rate percent = cancelled / bookings: Cancelled bookings of those made in the span.
-- ratio cancellation_value_rate percent = cancelled_value / value: The value of cancelled bookings of that of all.
-- ratio customer_cancellation_rate percent = cancelled_by_customer / bookings: Bookings that the customer cancelled of all.
-- ratio host_cancellation_rate percent = cancelled_by_host / bookings: Bookings that the host cancelled of all.
-- A booking is of the local day on which it was made, in its own zone. Quantiles lie between the two nearest, as a spreadsheet's
-- PERCENTILE.INC has them. Money is of bookings in the currency, counts are of all. What a booking counts in is a number (its place) until
-- sums and quantiles are merged by the key. The totals are of the same reads; by tag they are not, as a vehicle has many.
-- EXPLAIN indexes=1: bookings by the account.
WITH
    (SELECT groupUniqArray(if(channel = '', 'direct', channel)) FROM bookings WHERE account = {account:UInt64} AND {group:String} = 'channel') AS ways,
    quantilesExactInclusiveIfMerge(0.5, 0.9)(b.lead_days) AS lead_days, sumForEach(b.leads) AS leads
SELECT
    multiIf(
        {group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toString(toDate32(toInt32(b.place))),
        {group:String} IN ('vehicle', 'class', 'location', 'customer'), toString(b.place),
        {group:String} = 'channel', ways[b.place],
        ''/*if by_traits*/ || ifNull(keys.key, '')/*end by_traits*/) AS key, grouping(key) AS everything,
    sum(b.n) AS made, sum(b.n_lapsed) AS lapsed, sum(b.n_pending) AS pending, made - lapsed - pending AS bookings, sum(b.n_cancelled) AS cancelled,
    sum(b.by_customer) AS cancelled_by_customer, sum(b.by_host) AS cancelled_by_host, sum(b.by_operator) AS cancelled_by_operator,
    sum(b.by_system) AS cancelled_by_system, sum(b.agreed) AS value, sum(b.agreed_cancelled) AS cancelled_value,
    sum(b.n_ahead) AS led, sum(b.ahead_s) AS lead_s,
    if(led = 0, NULL, lead_days[1]) AS lead_median_days, if(led = 0, NULL, lead_days[2]) AS lead_p90_days,
    leads[1] AS lead_0_days, leads[2] AS lead_1_2_days, leads[3] AS lead_3_6_days, leads[4] AS lead_7_13_days,
    leads[5] AS lead_14_29_days, leads[6] AS lead_30_89_days, leads[7] AS lead_90_days
FROM (
    SELECT
        if({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toUInt64(toInt32(dateTrunc(
            if({group:String} IN ('week', 'month', 'quarter', 'year'), {group:String}, 'day'), day))),
        if({group:String} = 'class', class, if({group:String} = 'location', location, if({group:String} = 'customer', customer,
        if({group:String} = 'channel', indexOf(ways, channel), if({group:String} = 'total', 0, vehicle)))))) AS place,
        count() AS n, countIf(status = 'expired') AS n_lapsed, countIf(status = 'pending') AS n_pending, countIf(status = 'cancelled') AS n_cancelled,
        countIf(status = 'cancelled' AND cancelled_by = 'customer') AS by_customer,
        countIf(status = 'cancelled' AND cancelled_by = 'host') AS by_host,
        countIf(status = 'cancelled' AND cancelled_by = 'operator') AS by_operator,
        countIf(status = 'cancelled' AND cancelled_by = 'system') AS by_system,
        sumIf(agreed_minor, real AND currency = {currency:String}) AS agreed,
        sumIf(agreed_minor, status = 'cancelled' AND currency = {currency:String}) AS agreed_cancelled,
        countIf(ahead) AS n_ahead, sumIf(intDiv(lead_ms + 500, 1000), ahead) AS ahead_s,
        quantilesExactInclusiveIfState(0.5, 0.9)(lead_ms / 86400000, ahead) AS lead_days,
        countIfResample(0, 7, 1)(ahead, (lead >= 1) + (lead >= 3) + (lead >= 7) + (lead >= 14) + (lead >= 30) + (lead >= 90)) AS leads
    FROM (
        SELECT leg_vehicles[-1] AS vehicle, toUInt64OrZero(substring(vehicle_class_id, 5)) AS class,
            toUInt64OrZero(substring(pickup_location_id, 5)) AS location, CAST(if(bookings.channel = '', 'direct', bookings.channel), 'String') AS channel,
            if({group:String} = 'customer' OR notEmpty({customers:Array(UInt64)}), toUInt64OrZero(substring(customer_id, 5)), 0) AS customer, status, cancelled_by, currency, agreed_minor,
            toDate32(formatDateTime(created_at, '%F', if(timezone = '', if({zone:String} = '', 'UTC', {zone:String}), timezone))) AS day,
            status NOT IN ('expired', 'pending') AS real, dateDiff('millisecond', created_at, pickup_at) AS lead_ms,
            real AND lead_ms >= 0 AS ahead, intDiv(lead_ms, 86400000) AS lead
        FROM bookings FINAL
        WHERE account = {account:UInt64} AND archived_at IS NULL
            AND created_at >= toDateTime64({from:Date32}, 3, 'UTC') - INTERVAL 1 DAY
            AND created_at < toDateTime64({to:Date32}, 3, 'UTC') + INTERVAL 2 DAY AND day BETWEEN {from:Date32} AND {to:Date32}
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
HAVING made > 0 AND ({totals:Bool} OR NOT everything)
SETTINGS do_not_merge_across_partitions_select_final = 1
