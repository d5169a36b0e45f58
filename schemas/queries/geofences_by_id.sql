-- Some of an account's geofences as they stand, in no order.
SELECT id, revision, created_at, updated_at, archived_at, body
FROM geofences FINAL
WHERE account = {account:UInt64} AND id IN {ids:Array(UInt64)}
