-- The vehicles of an account that can be rented, now or after what is being done to them: of some classes (if narrowed), or of any.
SELECT id, revision, created_at, updated_at, archived_at, body
FROM vehicles FINAL
WHERE account = {account:UInt64} AND archived_at IS NULL AND status NOT IN ('retired', 'inactive', 'out_of_service')
    AND ({narrowed:UInt8} = 0 OR vehicle_class_id IN {classes:Array(String)})
