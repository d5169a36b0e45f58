-- The keys of an account's vehicles in groups of reports by what vehicles are now: one a vehicle, of tags one a tag. A
-- part of other queries. EXPLAIN indexes=1: vehicles by account.
SELECT vehicle, arrayJoin(if({group:String} = 'tag', if(empty(tags), [''], arrayDistinct(tags)), [
    if({group:String} = 'make', make, if({group:String} = 'model', trimBoth(concat(make, ' ', model)), if(number = 0, '', toString(number))))])) AS key
FROM (
    SELECT *, if({group:String} = 'class', class, if({group:String} = 'location', location, owner)) AS number
    FROM vehicle_traits
    WHERE account = {account:UInt64} AND {group:String} IN ('make', 'model', 'class', 'location', 'owner', 'tag')
)
