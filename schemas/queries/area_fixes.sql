-- The fixes of an account in a set of cells with from <= fix_time < to, by vehicle and time, without those that have a
-- flag of {without}. Of several fixes of a vehicle in one millisecond all are given. No vehicles means all. The cells are
-- a parameter, because a table that comes along takes a millisecond more; the older analyzer has the same plan sooner.
SELECT vehicle, toUnixTimestamp64Milli(fix_time), lat7, lng7, cell
FROM positions_by_cell
WHERE account = {account:UInt64} AND cell IN {cells:Array(UInt64)}
    AND fix_time >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND fix_time < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    AND bitAnd(flags, {without:UInt32}) = 0
    AND (empty({vehicles:Array(UInt64)}) OR has({vehicles:Array(UInt64)}, vehicle))
ORDER BY vehicle, fix_time
SETTINGS enable_analyzer = 0
