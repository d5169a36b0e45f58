-- report: Pace
-- about: What is on the books for the days of the span, beside what was on the books for the same days a year before as of the same day
--   a year ago, and what came of those in the end. It says the same as the forecast of pace, which is made of the same.
-- bases: accrual
-- groups: total day week month quarter year vehicle make model class location channel customer owner tag
-- places: booking
-- figure days_on_books days: Billed days in the span of bookings that are on the books today.
-- figure revenue_on_books money: What was agreed for these days, less discounts and without taxes: time, miles, extras, protection, fees.
-- figure days_last_year days: Billed days on the same dates of the year before that were on the books as of this day a year ago.
-- figure revenue_last_year money: What was agreed for these days.
-- figure days_final_last_year days: Billed days on the same dates of the year before that are on the books today: what they came to, once they are over.
-- figure revenue_final_last_year money: What was agreed for these days.
-- ratio pace percent = days_on_books / days_last_year: Billed days on the books of those of a year ago; 100 is the same.
-- ratio revenue_pace percent = revenue_on_books / revenue_last_year: Their revenue of that a year ago.
-- ratio rate_on_books money = revenue_on_books / priced_days: Revenue of a day on the books, on average.
-- ratio rate_last_year money = revenue_last_year / priced_days_last_year: Revenue of a day that was on the books a year ago, on average.
-- figure priced_days days: Of the days on the books, those priced in the currency.
-- figure priced_days_last_year days: Of the days on the books a year ago, those priced in the currency.
-- What is on the books, on which days and for how much is said in booked_days.sql, of which this is made. Days of a 29th of February
-- stand with those of the 28th. EXPLAIN indexes=1: bookings by the account, and by billed_until_minmax and pickup_at_minmax.
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
    countIf(b.now) AS days_on_books, sumIf(b.minor, b.now AND priced) AS revenue_on_books, countIf(b.now AND priced) AS priced_days,
    countIf(NOT b.now AND then) AS days_last_year, sumIf(b.minor, NOT b.now AND then AND priced) AS revenue_last_year,
    countIf(NOT b.now AND then AND priced) AS priced_days_last_year,
    countIf(NOT b.now AND final) AS days_final_last_year, sumIf(b.minor, NOT b.now AND final AND priced) AS revenue_final_last_year
FROM (
    -- a day is looked at once for itself, if it is on the books, and once for the year after, if it was then or is
    SELECT vehicle, class, location, channel, customer, priced, then, final, x.1 AS day, x.2 AS minor, x.3 AS now
    FROM (
        SELECT vehicle, class, location, channel, customer, currency = {currency:String} AS priced,
            confirmed <= addYears({today:Date32}, -1) AND ended > addYears({today:Date32}, -1) AS then,
            confirmed <= {today:Date32} AND ended > {today:Date32} AS final,
            arrayJoin(arrayFilter(d -> d.1 BETWEEN {from:Date32} AND {to:Date32}, arrayConcat(
                if(final, arrayMap((d, m) -> (d, m, true), days, minors), []),
                if(then OR final, arrayMap((d, m) -> (addYears(d, 1), m, false), days, minors), [])))) AS x
        FROM (/*query booked_days*/)
        WHERE (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
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
