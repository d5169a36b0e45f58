-- The acknowledgements of some alerts of an account.
SELECT id, toUnixTimestamp64Milli(created_at), actor, note
FROM alert_acks FINAL
WHERE account = {account:UInt64} AND id IN {ids:Array(UInt64)}
