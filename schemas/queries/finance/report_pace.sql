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
-- What is on the books, on which days and for how much is a fact (booking_sums), said in facts_booking_sums.sql. The class is the one that was
-- booked, or that of its vehicle where none was. Days of a 29th of February stand with those of the 28th. A day is looked at once for itself,
-- if it is on the books, and once for the year after, if it was then or is: so many as these may be are first put together by numbers and
-- days, and only what they come to has texts for keys. Whole months are not taken apart into days (by_months).
-- EXPLAIN indexes=1: booking_sums by account, and by first_minmax and last_minmax.
WITH
    (/*query classes_of_vehicles*/) AS classes,
    {group:String} IN ('day', 'week', 'month', 'quarter', 'year') AS by_time,
    -- the days that stand for one of the span a year later
    addYears({from:Date32}, -1) AS year_before, addYears({to:Date32}, -1) AS year_before_to,
    if(addYears(year_before, 1) < {from:Date32}, addDays(year_before, 1), year_before) AS past_from,
    if(addYears(addDays(year_before_to, 1), 1) <= {to:Date32}, addDays(year_before_to, 1), year_before_to) AS past_to,
    {group:String} NOT IN ('day', 'week') AND toDayOfMonth({from:Date32}) = 1 AND toDayOfMonth(addDays({to:Date32}, 1)) = 1 AS by_months,
    bitTest(d.kinds, 0) AS priced, bitTest(d.kinds, 1) AS then, bitTest(d.kinds, 2) AS final, bitTest(d.kinds, 3) AS of_now, bitTest(d.kinds, 4) AS of_then
SELECT
    multiIf(
        {group:String} = 'total', '',
        by_time, toString(toDate32(dateTrunc(if({group:String} IN ('week', 'month', 'quarter', 'year'), {group:String}, 'day'),
            if(now, d.day, addYears(d.day, 1))))),
        {group:String} IN ('vehicle', 'class', 'location', 'customer'), toString(d.number),
        {group:String} = 'channel', d.word,
        ''/*if by_traits*/ || ifNull(keys.key, '')/*end by_traits*/) AS key,
    sumIf(d.n, now) AS days_on_books, sumIf(d.minor, now AND priced) AS revenue_on_books, sumIf(d.n, now AND priced) AS priced_days,
    sumIf(d.n, NOT now AND then) AS days_last_year, sumIf(d.minor, NOT now AND then AND priced) AS revenue_last_year,
    sumIf(d.n, NOT now AND then AND priced) AS priced_days_last_year,
    sumIf(d.n, NOT now AND final) AS days_final_last_year, sumIf(d.minor, NOT now AND final AND priced) AS revenue_final_last_year
FROM (
    SELECT number, if(by_time, x.1, toDate32('1970-01-01')) AS day, any(channel_word) AS word,
        -- in one number, as keys of few bytes are fast: what the booking is, and for which of the two the day counts
        toUInt8(kind + 8 * (x.1 BETWEEN {from:Date32} AND {to:Date32}) + 16 * (x.1 BETWEEN past_from AND past_to)) AS kinds,
        sum(x.2) AS n, sum(x.3) AS minor
    FROM (
        SELECT if({group:String} = 'channel', toString(channel), '') AS channel_word,
            if(booking_sums.class = 0, transform(vehicle, classes.1, classes.2, toUInt64(0)), booking_sums.class) AS of_class,
            confirmed_on <= addYears({today:Date32}, -1) AND ended_on > addYears({today:Date32}, -1) AS was_then,
            confirmed_on <= {today:Date32} AND ended_on > {today:Date32} AS is_final,
            (currency = {currency:String}) + 2 * was_then + 4 * is_final AS kind,
            multiIf(by_time OR {group:String} = 'total', 0, {group:String} = 'class', of_class, {group:String} = 'location', location,
                {group:String} = 'customer', customer, {group:String} = 'channel', cityHash64(channel), vehicle) AS number,
            arrayJoin(arrayConcat(CAST([], 'Array(Tuple(Date32, Int64, Int64))')
                /*if by_months*/, if(by_months, arrayZip(months, month_days, month_agreed), [])/*end by_months*/
                /*if by_days*/, if(by_months, [], arrayZip(days, arrayMap(d -> toInt64(1), days), agreed))/*end by_days*/)) AS x
        FROM booking_sums FINAL
        WHERE account = {account:UInt64} AND on_books AND last >= year_before AND first <= {to:Date32} AND (was_then OR is_final)
            AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
            AND (empty({classes:Array(UInt64)}) OR of_class IN {classes:Array(UInt64)})
            AND (empty({locations:Array(UInt64)}) OR location IN {locations:Array(UInt64)})
            AND (empty({channels:Array(String)}) OR has({channels:Array(String)}, channel))
            AND (empty({customers:Array(UInt64)}) OR customer IN {customers:Array(UInt64)})
            /*if chosen*/AND (empty({owners:Array(UInt64)}) AND empty({tags:Array(String)}) AND empty({makes:Array(String)}) AND empty({models:Array(String)})
                OR vehicle IN (/*query vehicles_held*/))/*end chosen*/
    )
    GROUP BY number, day, kinds
) AS d
ARRAY JOIN arrayFilter(now -> if(now, of_now AND final, of_then), [true, false]) AS now
/*if by_traits*/LEFT JOIN (/*query vehicle_keys*/) AS keys ON keys.vehicle = d.number/*end by_traits*/
GROUP BY key
SETTINGS do_not_merge_across_partitions_select_final = 1
