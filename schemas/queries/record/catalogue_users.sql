-- What of an account, not archived, uses a class, a location or a rate plan ('' for none of the kind): at most ten ids of each kind of user.
-- A booking uses what it names until the vehicle is back, or nobody is to come for it.
SELECT 'vehicle' AS noun, id
FROM vehicles FINAL
WHERE account = {account:UInt64} AND archived_at IS NULL AND status != 'retired'
    AND (({class:String} != '' AND vehicle_class_id = {class:String})
        OR ({location:String} != '' AND (home_location_id = {location:String} OR current_location_id = {location:String}))
        OR ({plan:String} != '' AND rate_plan_id = {plan:String}))
ORDER BY id
LIMIT 10
UNION ALL
SELECT 'vehicle class' AS noun, id
FROM vehicle_classes FINAL
WHERE account = {account:UInt64} AND archived_at IS NULL AND {plan:String} != '' AND rate_plan_id = {plan:String}
ORDER BY id
LIMIT 10
UNION ALL
SELECT 'rate plan' AS noun, id
FROM rate_plans FINAL
WHERE account = {account:UInt64} AND archived_at IS NULL AND {class:String} != '' AND has(vehicle_class_ids, {class:String})
ORDER BY id
LIMIT 10
UNION ALL
SELECT 'booking' AS noun, id
FROM bookings FINAL
WHERE account = {account:UInt64} AND archived_at IS NULL AND status IN ('pending', 'confirmed', 'active')
    AND (({class:String} != '' AND vehicle_class_id = {class:String})
        OR ({location:String} != '' AND (pickup_location_id = {location:String} OR return_location_id = {location:String}))
        OR ({plan:String} != '' AND rate_plan_id = {plan:String}))
ORDER BY id
LIMIT 10
