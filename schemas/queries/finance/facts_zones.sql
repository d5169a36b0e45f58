-- The time zones that the vehicles and bookings of an account name.
SELECT DISTINCT JSONExtractString(body, 'timezone') AS zone FROM vehicles FINAL WHERE account = {account:UInt64}
UNION DISTINCT
SELECT DISTINCT toString(timezone) FROM bookings WHERE account = {account:UInt64}
