-- The bookings of an account whose ids are from first to last. EXPLAIN indexes=1: bookings by account and id.
SELECT DISTINCT id FROM bookings WHERE account = {account:UInt64} AND id BETWEEN {first:UInt64} AND {last:UInt64}
