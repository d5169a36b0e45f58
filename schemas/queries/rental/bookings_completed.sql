-- Those of some bookings of an account that are completed. EXPLAIN indexes=1: by the key, the granules of the bookings.
SELECT id
FROM bookings FINAL
WHERE account = {account:UInt64} AND id IN {ids:Array(UInt64)} AND status = 'completed'
