-- From when until when the rentals of the bookings in chosen are, as planned or as they were, in seconds since 1970, and how many days they
-- have in all; a rental that has not ended has those up to now, in seconds too. All of chosen are among first and last.
-- External: chosen (booking UInt64)
WITH
    if(toUnixTimestamp64Milli(actual_pickup_at) = 0, pickup_at, actual_pickup_at) AS begins,
    greatest(pickup_at, return_at, actual_pickup_at, actual_return_at) AS ends
SELECT min(least(pickup_at, begins)) AS first, max(ends) AS last,
    sum(toUInt64(1 + dateDiff('day', begins, if(status = 'active', greatest(ends, fromUnixTimestamp64Milli({now:Int64} * 1000, 'UTC')), ends)))) AS days
FROM bookings FINAL
WHERE account = {account:UInt64} AND status IN ('active', 'completed')
    AND id BETWEEN {first:UInt64} AND {last:UInt64}
    AND id IN (SELECT booking FROM chosen)
