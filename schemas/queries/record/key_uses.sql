-- When some API keys of an account were last used, to the minute.
SELECT key, at
FROM key_uses FINAL
WHERE account = {account:UInt64} AND key IN {keys:Array(UInt64)}
