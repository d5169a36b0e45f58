-- What came onto the books for each class and local day, and left them again, by how many days before: the seconds of the day that bookings are to have a vehicle,
-- as planned. A booking is on the books from its confirmation until it is cancelled, lapses or becomes a no-show. Its class is that of its vehicle, or, while it has
-- none, the one that was booked. What came on the day or was written down afterwards is 0 days before, and what came earlier than `most` days before is at `most`.
-- afterwards counts bookings that were written down after their pickup. EXPLAIN indexes=1: the account by the key, the days by return_at_minmax and pickup_at_minmax.
WITH
    if(empty({zone:String}), 'UTC', {zone:String}) AS zone,
    toDate({from:Date32}) AS first, toDate({to:Date32}) AS last,
    stays AS
    (
        SELECT
            if(b.vehicle_id != '', t.class, toUInt64OrZero(splitByChar('_', toString(b.vehicle_class_id))[2])) AS class,
            toUnixTimestamp64Milli(b.pickup_at) AS begins, toUnixTimestamp64Milli(b.return_at) AS ends,
            toDate(b.confirmed_at, zone) AS booked, b.status IN ('cancelled', 'no_show', 'expired') AS gone,
            toDate(if(b.status = 'cancelled' AND toUnixTimestamp64Milli(b.cancelled_at) > 0, b.cancelled_at, b.status_since), zone) AS left,
            b.confirmed_at > b.pickup_at AS afterwards,
            greatest(toDate(b.pickup_at, zone), first) AS opens,
            least(toDate(b.return_at - toIntervalMillisecond(1), zone), last) AS closes
        FROM bookings AS b FINAL
        LEFT JOIN vehicle_traits AS t ON t.account = {account:UInt64} AND concat('veh_', toString(t.vehicle)) = b.vehicle_id
        WHERE b.account = {account:UInt64} AND b.archived_at IS NULL AND toUnixTimestamp64Milli(b.confirmed_at) > 0 AND b.pickup_at < b.return_at
            AND b.return_at > toDateTime64(first, 3, zone) AND b.pickup_at < toDateTime64(last + 1, 3, zone)
    )
SELECT class, toInt32(day) AS day, groupArray(lead) AS leads, groupArray(amount) AS amounts, toUInt64(sum(late)) AS afterwards
FROM
(
    SELECT class, day, step.1 AS lead, sum(step.2) AS amount, countIf(afterwards AND step.2 > 0 AND day = opens) AS late
    FROM
    (
        SELECT class, day, opens, afterwards,
            intDiv(least(ends, toUnixTimestamp64Milli(toDateTime64(day + 1, 3, zone))) - greatest(begins, toUnixTimestamp64Milli(toDateTime64(day, 3, zone))), 1000) AS stay,
            toUInt16(greatest(0, least(dateDiff('day', booked, day), {most:UInt16}))) AS came,
            toUInt16(greatest(0, least(dateDiff('day', left, day), {most:UInt16}))) AS went,
            if(gone, [(came, stay), (went, -stay)], [(came, stay)]) AS steps
        FROM stays
        ARRAY JOIN arrayMap(i -> opens + i, range(toUInt32(greatest(0, dateDiff('day', opens, closes) + 1)))) AS day
    )
    ARRAY JOIN steps AS step
    GROUP BY class, day, lead
)
GROUP BY class, day
ORDER BY class, day
SETTINGS do_not_merge_across_partitions_select_final = 1
