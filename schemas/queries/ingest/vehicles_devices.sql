-- The devices that were ever on some vehicles of an account, with the bodies that say when.
SELECT id, revision, created_at, updated_at, archived_at, body
FROM devices FINAL
WHERE account = {account:UInt64} AND archived_at IS NULL AND hasAny(vehicle_ids, {vehicles:Array(String)})
ORDER BY id
