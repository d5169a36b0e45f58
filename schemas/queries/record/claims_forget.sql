-- Removes the claims on values of records that were erased.
ALTER TABLE claim_log
DELETE WHERE account = {account:UInt64} AND startsWith(field, concat({kind:String}, '.')) AND owner IN {ids:Array(UInt64)}
SETTINGS mutations_sync = 1
