-- When each booking of an account that ever was on the books is to have a vehicle, as planned, of those that have one within the local days: in milliseconds since 1970, with the
-- class, the local day on which it came onto the books, and the one on which it left them if it is gone. A booking is on the books from its confirmation until it is cancelled, lapses or
-- becomes a no-show. Its class is that of its vehicle, or, while it has none, the one that was booked. afterwards: it was written down after its pickup.
-- EXPLAIN indexes=1: the account by the key, the days by return_at_minmax and pickup_at_minmax.
WITH if(empty({zone:String}), 'UTC', {zone:String}) AS zone
SELECT if(b.vehicle_id != '', t.class, toUInt64OrZero(splitByChar('_', toString(b.vehicle_class_id))[2])) AS class,
    toUnixTimestamp64Milli(b.pickup_at) AS begins, toUnixTimestamp64Milli(b.return_at) AS ends, toInt32(toDate(b.confirmed_at, zone)) AS booked,
    b.status IN ('cancelled', 'no_show', 'expired') AS gone,
    toInt32(toDate(if(toUnixTimestamp64Milli(b.cancelled_at) > 0, b.cancelled_at, b.status_since), zone)) AS left,
    b.confirmed_at > b.pickup_at AS afterwards
FROM bookings AS b FINAL
LEFT JOIN (SELECT concat('veh_', toString(vehicle)) AS id, class FROM vehicle_traits WHERE account = {account:UInt64}) AS t ON t.id = b.vehicle_id
WHERE b.account = {account:UInt64} AND b.archived_at IS NULL AND toUnixTimestamp64Milli(b.confirmed_at) > 0 AND b.pickup_at < b.return_at
    AND b.return_at > toDateTime64(toDate({from:Date32}), 3, zone) AND b.pickup_at < toDateTime64(toDate({to:Date32}) + 1, 3, zone)
SETTINGS do_not_merge_across_partitions_select_final = 1
