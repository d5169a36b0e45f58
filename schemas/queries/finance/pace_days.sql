-- What stood on the books for each class and local day from a year before the day `from` on until `to`: billed days, and what was agreed
-- for them in one currency, by at which of the days as_of, which are in order: those from place `since` on and before
-- place `until`, counted from 0. What that means is said in facts_booking_sums.sql. The class is the one that was booked, or that of
-- its vehicle where none was.
-- EXPLAIN indexes=1: booking_sums by account, and by first_minmax and last_minmax; vehicles by account.
WITH (/*query classes_of_vehicles*/) AS classes
SELECT of_class AS class, toInt32(x.1) AS on_day, since, until, toInt64(count()) AS billed_days, sumIf(x.2, priced) AS agreed_minor,
    sumIf(x.3, priced) AS agreed_time_minor
FROM
(
    SELECT if(class = 0, transform(vehicle, classes.1, classes.2, toUInt64(0)), class) AS of_class, currency = {currency:String} AS priced,
        toUInt8(arrayCount(day -> day < confirmed_on, {as_of:Array(Date32)})) AS since,
        toUInt8(arrayCount(day -> day < ended_on, {as_of:Array(Date32)})) AS until,
        arrayJoin(arrayFilter(x -> x.1 BETWEEN addYears({from:Date32}, -1) AND {to:Date32}, arrayZip(days, agreed, agreed_time))) AS x
    FROM booking_sums FINAL
    WHERE account = {account:UInt64} AND on_books AND since < until AND last >= addYears({from:Date32}, -1) AND first <= {to:Date32}
)
GROUP BY class, on_day, since, until
ORDER BY class, on_day, since, until
SETTINGS do_not_merge_across_partitions_select_final = 1
