-- The local days of a span in each time zone of an account's vehicles, from midnight to midnight in milliseconds since 1970;
-- on is the day as a number. A part of other queries. A midnight is worked out of the offsets of a day before and a day
-- after it, as audit_driven does: where both are right it came twice and the first counts, where none is the clocks jumped over it and
-- that of before says when. EXPLAIN indexes=1: vehicles by account.
WITH
    (at, zone) -> toInt64(toUnixTimestamp(toDateTime(formatDateTime(toDateTime(at, 'UTC'), '%F %T', zone), 'UTC'))) - at AS offset,
    (at, first, second, zone) -> at - if(offset(at - first, zone) != first AND offset(at - second, zone) = second, second, first) AS valid,
    (at, zone) -> valid(at, offset(at - 86400, zone), offset(at + 86400, zone), zone) AS midnight
SELECT zone, toDate32(on) AS day, on, midnight(toInt64(on) * 86400, zone) * 1000 AS begins_ms,
    midnight(toInt64(on) * 86400 + 86400, zone) * 1000 AS ends_ms
FROM (
    SELECT arrayJoin(arrayDistinct((/*query vehicle_zones*/).2)) AS zone,
        toInt32({from:Date32}) + toInt32(arrayJoin(range(toUInt64(dateDiff('day', {from:Date32}, {to:Date32}) + 1)))) AS on
)
