-- The vehicles of an account that filters of reports of bookings choose, by what they are now: all but class and location,
-- which a booking has itself. Vehicle 0, of bookings that have none yet, is like one that has nothing of it all. A part of
-- other queries. EXPLAIN indexes=1: vehicles by account.
SELECT vehicle
FROM vehicle_traits
WHERE account = {account:UInt64} AND (empty({owners:Array(UInt64)}) OR owner IN {owners:Array(UInt64)})
    AND (empty({tags:Array(String)}) OR hasAny(if(empty(tags), [''], tags), {tags:Array(String)}))
    AND (empty({makes:Array(String)}) OR make IN {makes:Array(String)})
    AND (empty({models:Array(String)}) OR trimBoth(concat(make, ' ', model)) IN {models:Array(String)})
UNION ALL
SELECT toUInt64(0)
WHERE (empty({owners:Array(UInt64)}) OR has({owners:Array(UInt64)}, 0)) AND (empty({tags:Array(String)}) OR has({tags:Array(String)}, ''))
    AND (empty({makes:Array(String)}) OR has({makes:Array(String)}, '')) AND (empty({models:Array(String)}) OR has({models:Array(String)}, ''))
