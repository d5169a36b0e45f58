-- report: Pace
-- about: What is on the books for the days of the span, beside what was on the books for the same days a year before as of the same day
--   a year ago, and what came of those in the end.
-- bases: accrual
-- groups: total day week month quarter year vehicle make model class location channel customer owner tag
-- places: booking
-- figure days_on_books days: Billed days in the span of bookings that are confirmed, on rent or completed as of today.
-- figure revenue_on_books money: The price of these days by the agreed rate, before discounts, extras and taxes.
-- figure days_last_year days: Billed days on the same dates of the year before that were on the books as of this day a year ago.
-- figure revenue_last_year money: The price of these days by the agreed rate.
-- figure days_final_last_year days: Billed days on the same dates of the year before that were rented in the end.
-- figure revenue_final_last_year money: The price of these days by the agreed rate.
-- ratio pace percent = days_on_books / days_last_year: Billed days on the books of those of a year ago; 100 is the same.
-- ratio revenue_pace percent = revenue_on_books / revenue_last_year: Their price of that a year ago.
-- ratio rate_on_books money = revenue_on_books / priced_days: Price of a day on the books, on average.
-- ratio rate_last_year money = revenue_last_year / priced_days_last_year: Price of a day that was on the books a year ago, on average.
-- figure priced_days days: Of the days on the books, those priced in the currency.
-- figure priced_days_last_year days: Of the days on the books a year ago, those priced in the currency.
-- A booking is on the books as of a day if it was confirmed on it or before, and was not cancelled or given up as a no-show until its
-- end. How many days it has, and their price, is as the booking stands now: extensions since then are taken for known, which the
-- revision log would tell apart at the cost of reading every revision of every booking. Of a booking without a frozen
-- rate, such as an imported one, what it comes to is spread over its days. Days of a 29th of February stand with those of the 28th. EXPLAIN indexes=1: bookings by the account.
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
        ifNull(keys.key, '')) AS key,
    countIf(now) AS days_on_books, sumIf(b.minor, now AND priced) AS revenue_on_books, countIf(now AND priced) AS priced_days,
    countIf(then) AS days_last_year, sumIf(b.minor, then AND priced) AS revenue_last_year, countIf(then AND priced) AS priced_days_last_year,
    countIf(final) AS days_final_last_year, sumIf(b.minor, final AND priced) AS revenue_final_last_year
FROM (
    SELECT vehicle, class, location, channel, customer, currency = {currency:String} AS priced, x.2 AS minor, x.1 AS on,
        on BETWEEN {from:Date32} AND {to:Date32} AND confirmed <= {today:Date32} AND ended > {today:Date32} AS now,
        addYears(on, 1) BETWEEN {from:Date32} AND {to:Date32} AS before,
        before AND confirmed <= addYears({today:Date32}, -1) AND ended > addYears({today:Date32}, -1) AS then,
        before AND status IN ('active', 'completed') AS final,
        arrayJoin(arrayFilter(y -> y.2, [(on, now), (addYears(on, 1), then OR final)])) AS part, part.1 AS day
    FROM (
        SELECT leg_vehicles[-1] AS vehicle, toUInt64OrZero(substring(vehicle_class_id, 5)) AS class,
        toUInt64OrZero(substring(pickup_location_id, 5)) AS location, CAST(if(bookings.channel = '', 'direct', bookings.channel), 'String') AS channel,
        toUInt64OrZero(substring(customer_id, 5)) AS customer, status, currency, total_minor - tax_minor AS net,
            toDate32(formatDateTime(pickup_at, '%F', if(timezone = '', if({zone:String} = '', 'UTC', {zone:String}), timezone))) AS first,
            toUInt64(greatest(if(billed_days > 0, billed_days, dateDiff('day', pickup_at, return_at)), 1)) AS n,
            toDate32(formatDateTime(if(confirmed_at > toDateTime64(0, 3, 'UTC'), confirmed_at, created_at), '%F', if(timezone = '', if({zone:String} = '', 'UTC', {zone:String}), timezone))) AS confirmed,
            if(status NOT IN ('cancelled', 'no_show'), toDate32('2299-12-31'), toDate32(formatDateTime(
                if(cancelled_at > toDateTime64(0, 3, 'UTC'), cancelled_at, status_since), '%F', if(timezone = '', if({zone:String} = '', 'UTC', {zone:String}), timezone)))) AS ended,
            arrayJoin(arrayFilter(
                d -> d.1 BETWEEN {from:Date32} AND {to:Date32} OR addYears(d.1, 1) BETWEEN {from:Date32} AND {to:Date32},
                if(notEmpty(billed_on), arrayZip(billed_on, billed_minor),
                    arrayMap(i -> (addDays(first, i), intDiv(net, n) + if(i = 0, net % n, 0)), range(n))))) AS x
        FROM bookings FINAL
        WHERE account = {account:UInt64} AND archived_at IS NULL
            AND (status IN ('confirmed', 'active', 'completed') OR status IN ('cancelled', 'no_show') AND confirmed_at > toDateTime64(0, 3, 'UTC'))
            AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
        AND (empty({classes:Array(UInt64)}) OR class IN {classes:Array(UInt64)})
        AND (empty({locations:Array(UInt64)}) OR location IN {locations:Array(UInt64)})
        AND (empty({channels:Array(String)}) OR channel IN {channels:Array(String)})
        AND (empty({customers:Array(UInt64)}) OR customer IN {customers:Array(UInt64)})
        AND vehicle IN (/*query vehicles_held*/)
    )
) AS b
LEFT JOIN (/*query vehicle_keys*/) AS keys ON keys.vehicle = b.vehicle
GROUP BY key
SETTINGS do_not_merge_across_partitions_select_final = 1
