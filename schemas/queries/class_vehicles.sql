-- The vehicles of a class that can be rented, now or after what is being done to them.
SELECT id
FROM vehicles FINAL
WHERE account = {account:UInt64} AND archived_at IS NULL AND status NOT IN ('retired', 'inactive', 'out_of_service')
    AND JSONExtractString(body, 'vehicle_class_id') = {class:String}
ORDER BY id
