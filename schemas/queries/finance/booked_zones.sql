-- The time zones of an account's bookings: whoever asks which bookings were on the books at the end of a day works out when it
-- ends in each of them. A part of other queries. EXPLAIN indexes=1: bookings by the account; the column read is narrow.
SELECT DISTINCT if(timezone = '', if({zone:String} = '', 'UTC', {zone:String}), timezone) AS zone
FROM (SELECT DISTINCT timezone FROM bookings WHERE account = {account:UInt64})
