-- The vehicles of an account that have a time zone of their own, and these zones, as two lists that end in vehicle 0 and
-- that of the account. A part of other queries, which tell days by the zone that a vehicle has now, as query/zones.go does:
-- transform(vehicle, zones.1, zones.2, zones.2[-1]). EXPLAIN indexes=1: vehicles by account.
SELECT (arrayPushBack(groupArray(vehicle), 0), arrayPushBack(groupArray(timezone), if({zone:String} = '', 'UTC', {zone:String})))
FROM vehicle_traits
WHERE account = {account:UInt64} AND timezone != ''
