-- Notes up to where what accounts have is about to be deleted, or is.
INSERT INTO retention_cuts (account, done, cut_at)
SELECT arrayJoin({accounts:Array(UInt64)}), {done:Bool}, fromUnixTimestamp64Milli({before:Int64}, 'UTC')
