-- From when until when the rentals of the bookings in chosen, all of which are among first and last, last, as planned or as they were, in
-- seconds since 1970, and how many days that are in all, those that are out to now, which is in seconds too.
-- External: chosen (booking UInt64)
WITH
    least(pickup_at, if(toUnixTimestamp64Milli(actual_pickup_at) = 0, pickup_at, actual_pickup_at)) AS begins,
    greatest(pickup_at, return_at, actual_pickup_at, actual_return_at) AS ends
SELECT min(begins) AS first, max(ends) AS last,
    sum(toUInt64(1 + dateDiff('day', begins, if(status = 'active', greatest(ends, fromUnixTimestamp64Milli({now:Int64} * 1000, 'UTC')), ends)))) AS days
FROM bookings FINAL
WHERE account = {account:UInt64} AND status IN ('active', 'completed')
    AND id BETWEEN {first:UInt64} AND {last:UInt64}
    AND id IN (SELECT booking FROM chosen)
