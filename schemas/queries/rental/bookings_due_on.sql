-- The bookings of an account that are due on a day at the place of their next handover, wherever that is: zones are the time zones in which
-- they may be due (bookings_due_zones.sql), with the milliseconds at which the day begins and ends in each.
-- EXPLAIN indexes=1: by the key, the account's part of bookings and of locations.
SELECT id
FROM bookings FINAL
LEFT JOIN (
    SELECT concat('loc_', toString(id)) AS place, timezone AS place_zone FROM locations FINAL WHERE account = {account:UInt64}
) AS places ON places.place = bookings.due_location_id
WHERE account = {account:UInt64} AND due_for != ''
    AND toUnixTimestamp64Milli(due_at) >= arrayElement({begins:Array(Int64)}, indexOf({zones:Array(String)}, if(place_zone != '', place_zone, bookings.timezone)))
    AND toUnixTimestamp64Milli(due_at) < arrayElement({ends:Array(Int64)}, indexOf({zones:Array(String)}, if(place_zone != '', place_zone, bookings.timezone)))
ORDER BY id
