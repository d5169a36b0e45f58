-- The vehicles of an account that have a class, and these, in the same order; with one that is none, as lists are not to be empty. A part of
-- other queries. EXPLAIN indexes=1: vehicle_traits by account.
SELECT (arrayPushBack(groupArray(vehicle), 0), arrayPushBack(groupArray(class), 0))
FROM vehicle_traits
WHERE account = {account:UInt64} AND class != 0
