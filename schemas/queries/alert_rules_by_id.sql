-- Some of an account's alert rules as they stand, in no order.
SELECT id, revision, created_at, updated_at, archived_at, body
FROM alert_rules FINAL
WHERE account = {account:UInt64} AND id IN {ids:Array(UInt64)}
