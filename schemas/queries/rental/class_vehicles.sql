-- The vehicles of a class that can be rented, now or after what is being done to them: where each is, as far as anybody knows, and since
-- when that is known; its zone and from which day until which it is in the fleet, as far as it says so.
SELECT id,
    if(JSONExtractString(body, 'current_location_id') != '', JSONExtractString(body, 'current_location_id'), JSONExtractString(body, 'home_location_id')) AS place,
    located_at AS since, JSONExtractString(body, 'timezone') AS timezone, JSONExtractString(body, 'in_service_on') AS in_service_on,
    JSONExtractString(body, 'disposal_on') AS disposal_on
FROM vehicles FINAL
WHERE account = {account:UInt64} AND archived_at IS NULL AND status NOT IN ('retired', 'inactive', 'out_of_service')
    AND JSONExtractString(body, 'vehicle_class_id') = {class:String}
ORDER BY id
