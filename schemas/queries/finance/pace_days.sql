-- What stood on the books at the end of the local day {as_of} for each class and local day: bookings that have the day among those they are billed, billed days, and
-- what was agreed for it, in one currency. The days billed are so many from the local day of pickup, and what was agreed is divided among them evenly, the remainder
-- going to the later ones. A booking is on the books from its confirmation until it is cancelled, lapses or becomes a no-show.
-- EXPLAIN indexes=1: the account by the key, the days by pickup_at_minmax.
WITH
    if(empty({zone:String}), 'UTC', {zone:String}) AS zone,
    stays AS
    (
        SELECT
            if(b.vehicle_id != '', t.class, toUInt64OrZero(splitByChar('_', toString(b.vehicle_class_id))[2])) AS class,
            toDate(b.pickup_at, zone) AS opens, toInt64(greatest(1, least(b.billed_days, 3660))) AS billed,
            if(b.currency = {currency:String}, b.agreed_minor, 0) AS agreed, if(b.currency = {currency:String}, b.agreed_time_minor, 0) AS agreed_time
        FROM bookings AS b FINAL
        LEFT JOIN vehicle_traits AS t ON t.account = {account:UInt64} AND concat('veh_', toString(t.vehicle)) = b.vehicle_id
        WHERE b.account = {account:UInt64} AND b.archived_at IS NULL AND toUnixTimestamp64Milli(b.confirmed_at) > 0
            AND toDate(b.confirmed_at, zone) <= toDate({as_of:Date32})
            AND (b.status NOT IN ('cancelled', 'no_show', 'expired')
                OR toDate(if(b.status = 'cancelled' AND toUnixTimestamp64Milli(b.cancelled_at) > 0, b.cancelled_at, b.status_since), zone) > toDate({as_of:Date32}))
            AND b.pickup_at < toDateTime64(toDate({to:Date32}) + 1, 3, zone) AND b.pickup_at >= toDateTime64(toDate({from:Date32}) - 3660, 3, zone)
    )
SELECT class, toInt32(day) AS on_day, toInt64(count()) AS billed_days,
    sum(intDiv(agreed * (nth + 1), billed) - intDiv(agreed * nth, billed)) AS agreed_minor,
    sum(intDiv(agreed_time * (nth + 1), billed) - intDiv(agreed_time * nth, billed)) AS agreed_time_minor
FROM
(
    SELECT class, billed, agreed, agreed_time, nth, opens + nth AS day
    FROM stays
    ARRAY JOIN range(toUInt32(billed)) AS nth
    WHERE day BETWEEN toDate({from:Date32}) AND toDate({to:Date32})
)
GROUP BY class, day
ORDER BY class, day
SETTINGS do_not_merge_across_partitions_select_final = 1
