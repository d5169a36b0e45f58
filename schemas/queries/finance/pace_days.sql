-- What stood on the books for each class and local day from a year before the day `from` on until `to`: billed days, and what was agreed
-- for them in one currency, by at which of the days as_of, which are in order: those from place `since` on and before
-- place `until`, counted from 0. What that means is said in booked_days.sql, of which this is made.
SELECT class, toInt32(x.1) AS on_day, since, until, toInt64(count()) AS billed_days, sumIf(x.2, priced) AS agreed_minor, sumIf(x.3, priced) AS agreed_time_minor
FROM
(
    SELECT class, currency = {currency:String} AS priced, toUInt8(arrayCount(t -> t < confirmed, {as_of:Array(Date32)})) AS since,
        toUInt8(arrayCount(t -> t < ended, {as_of:Array(Date32)})) AS until,
        arrayJoin(arrayFilter(x -> x.1 BETWEEN addYears({from:Date32}, -1) AND {to:Date32}, arrayZip(days, minors, time_minors))) AS x
    FROM (/*query booked_days*/)
    WHERE since < until
)
GROUP BY class, on_day, since, until
ORDER BY class, on_day, since, until
SETTINGS do_not_merge_across_partitions_select_final = 1
