-- The vehicles of an account that filters choose, by what they are now; vehicle 0, of money that is of no vehicle, is like
-- one that has nothing of it all. A part of other queries, which leave it alone where no filter is set. EXPLAIN
-- indexes=1: vehicles by account.
SELECT vehicle
FROM vehicle_traits
WHERE account = {account:UInt64}
    AND (empty({classes:Array(UInt64)}) OR class IN {classes:Array(UInt64)})
    AND (empty({locations:Array(UInt64)}) OR location IN {locations:Array(UInt64)})
    AND (empty({owners:Array(UInt64)}) OR owner IN {owners:Array(UInt64)})
    AND (empty({tags:Array(String)}) OR hasAny(if(empty(tags), [''], tags), {tags:Array(String)}))
    AND (empty({makes:Array(String)}) OR make IN {makes:Array(String)})
    AND (empty({models:Array(String)}) OR trimBoth(concat(make, ' ', model)) IN {models:Array(String)})
UNION ALL
SELECT toUInt64(0)
WHERE (empty({classes:Array(UInt64)}) OR has({classes:Array(UInt64)}, 0))
    AND (empty({locations:Array(UInt64)}) OR has({locations:Array(UInt64)}, 0))
    AND (empty({owners:Array(UInt64)}) OR has({owners:Array(UInt64)}, 0))
    AND (empty({tags:Array(String)}) OR has({tags:Array(String)}, ''))
    AND (empty({makes:Array(String)}) OR has({makes:Array(String)}, ''))
    AND (empty({models:Array(String)}) OR has({models:Array(String)}, ''))
