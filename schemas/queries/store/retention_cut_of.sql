-- Up to where (ms) what an account had is deleted or just being deleted; 0 if nothing is.
SELECT toUnixTimestamp64Milli(max(cut_at))
FROM retention_cuts
WHERE account = {account:UInt64}
