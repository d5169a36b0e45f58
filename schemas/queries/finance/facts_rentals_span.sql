-- From when until when the rentals of some bookings last, as planned or as they were, in seconds since 1970.
SELECT min(least(pickup_at, if(toUnixTimestamp64Milli(actual_pickup_at) = 0, pickup_at, actual_pickup_at))) AS first,
    max(greatest(pickup_at, return_at, actual_pickup_at, actual_return_at)) AS last
FROM bookings FINAL
WHERE account = {account:UInt64} AND status IN ('active', 'completed')
    AND id BETWEEN {first:UInt64} AND {last:UInt64}
    AND (empty({bookings:Array(UInt64)}) OR id IN {bookings:Array(UInt64)})
