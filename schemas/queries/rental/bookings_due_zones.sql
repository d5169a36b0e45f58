-- The time zones in which bookings of an account may be due: those of its locations, and of bookings without one.
-- EXPLAIN indexes=1: by the key, the account's part of bookings and of locations.
SELECT DISTINCT timezone
FROM (
    SELECT timezone FROM locations FINAL WHERE account = {account:UInt64}
    UNION ALL
    SELECT timezone FROM bookings WHERE account = {account:UInt64} AND status IN ('pending', 'confirmed', 'active')
)
