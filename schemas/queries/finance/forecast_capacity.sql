-- The rentable seconds that vehicles of each class will have on each local day to come: those of vehicles that are not archived, inactive, retired or out of service,
-- from in_service_on until disposal_on, less what planned maintenance takes, of blocks and work orders. EXPLAIN indexes=1: the account by the keys.
WITH
    if(empty({zone:String}), 'UTC', {zone:String}) AS zone,
    toDate({from:Date32}) AS first,
    arrayMap(i -> first + i, range(toUInt32(dateDiff('day', {from:Date32}, {to:Date32}) + 1))) AS days,
    down AS
    (
        SELECT vehicle, groupArray((begins, ends)) AS spans
        FROM
        (
            SELECT toUInt64OrZero(substring(vehicle_id, 5)) AS vehicle, toUnixTimestamp64Milli(`from`) AS begins, toUnixTimestamp64Milli(until) AS ends
            FROM blocks FINAL
            WHERE account = {account:UInt64} AND archived_at IS NULL AND kind IN ('maintenance', 'repair') AND until > toDateTime64(first, 3, zone)
            UNION ALL
            SELECT id AS vehicle, toUnixTimestamp64Milli(hold.2) AS begins, toUnixTimestamp64Milli(hold.3) AS ends
            FROM calendars FINAL
            ARRAY JOIN arrayZip(hold_refs, hold_from, hold_until) AS hold
            WHERE account = {account:UInt64} AND kind = 'calendar' AND startsWith(hold.1, 'wo_') AND hold.3 > toDateTime64(first, 3, zone)
        )
        GROUP BY vehicle
    )
SELECT class, toInt32(day) AS on_day, sum(greatest(0, whole - lost)) AS rentable_s
FROM
(
    SELECT class, day,
        toUnixTimestamp64Milli(toDateTime64(day, 3, zone)) AS opens, toUnixTimestamp64Milli(toDateTime64(day + 1, 3, zone)) AS closes,
        intDiv(closes - opens, 1000) AS whole,
        arraySum(s -> intDiv(greatest(0, least(s.2, closes) - greatest(s.1, opens)), 1000), spans) AS lost
    FROM
    (
        SELECT toUInt64OrZero(splitByChar('_', toString(v.vehicle_class_id))[2]) AS class, down.spans AS spans,
            toDateOrZero(JSONExtractString(v.body, 'in_service_on')) AS since, toDateOrZero(JSONExtractString(v.body, 'disposal_on')) AS until
        FROM vehicles AS v FINAL
        LEFT JOIN down ON down.vehicle = v.id
        WHERE v.account = {account:UInt64} AND v.archived_at IS NULL AND v.status NOT IN ('inactive', 'retired', 'out_of_service')
    )
    ARRAY JOIN days AS day
    WHERE day >= since AND (toUInt16(until) = 0 OR day < until)
)
GROUP BY class, day
ORDER BY class, day
