-- Deletes the rows of accounts that are older than an instant (ms). The marks are filled by schemas.Retain. It does not wait: retention_running
-- tells when it is done.
ALTER TABLE /*table*/
DELETE WHERE account IN {accounts:Array(UInt64)} AND /*time*/ < fromUnixTimestamp64Milli({before:Int64}, 'UTC') /*but*/
SETTINGS mutations_sync = 0
