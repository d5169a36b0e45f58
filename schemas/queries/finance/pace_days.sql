-- What stood on the books for each class and local day from a year before the day `from` on until `to`: billed days, and what was agreed
-- for them in one currency, by at which of the days as_of, which are in order: those from place `since` on and before
-- place `until`, counted from 0. What that means is said in booked_days.sql, of which this is made.
WITH
    -- when a day ends in a zone: the first quarter of an hour that is of a later one, in milliseconds since 1970
    (day, zone) -> toInt64(arrayFirst(at -> toDate32(formatDateTime(toDateTime(at, 'UTC'), '%F', zone)) > day,
        range(toUInt32(toInt32(day) * 86400 + 28800), toUInt32(toInt32(day) * 86400 + 144000), 900))) * 1000 AS ends_ms,
    (
        SELECT (groupArray(zone), groupArray(arrayMap(day -> ends_ms(day, zone), {as_of:Array(Date32)})))
        FROM (/*query booked_zones*/)
    ) AS zones
SELECT class, toInt32(x.1) AS on_day, since, until, toInt64(count()) AS billed_days, sumIf(x.2, priced) AS agreed_minor, sumIf(x.3, priced) AS agreed_time_minor
FROM
(
    SELECT class, currency = {currency:String} AS priced, zones.2[indexOf(zones.1, local)] AS ends,
        toUInt8(arrayCount(at -> at <= confirmed_ms, ends)) AS since, toUInt8(arrayCount(at -> at <= ended_ms, ends)) AS until,
        arrayJoin(arrayFilter(x -> x.1 BETWEEN addYears({from:Date32}, -1) AND {to:Date32}, arrayZip(days, minors, time_minors))) AS x
    FROM (/*query booked_days*/)
    WHERE since < until
)
GROUP BY class, on_day, since, until
ORDER BY class, on_day, since, until
SETTINGS do_not_merge_across_partitions_select_final = 1
