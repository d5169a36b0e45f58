-- The fixes of an account in a set of cells with from <= fix_time < to and without a flag of {without}, by vehicle, time and
-- cell, and whether each is flagged as a {jump}. Of several fixes of a vehicle in one millisecond all are given, in each cell the
-- jumps first: a fix that was flagged later stands there twice until its rows are merged. No vehicles means all. The cells are a
-- parameter, because a table that comes along takes a millisecond more; the older analyzer has the same plan sooner.
SELECT vehicle, toUnixTimestamp64Milli(fix_time), lat7, lng7, cell, toBool(bitAnd(flags, {jump:UInt32}) != 0) AS jumped
FROM positions_by_cell
WHERE account = {account:UInt64} AND cell IN {cells:Array(UInt64)}
    AND fix_time >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND fix_time < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    AND bitAnd(flags, {without:UInt32}) = 0
    AND (empty({vehicles:Array(UInt64)}) OR has({vehicles:Array(UInt64)}, vehicle))
ORDER BY vehicle, fix_time, cell, jumped DESC
SETTINGS enable_analyzer = 0
