-- Notes for a turn which checkpoints stay although they are from before the cut: each vehicle's last one, from which what comes after the cut
-- is derived again.
INSERT INTO retention_keeps (turn, account, vehicle, id)
SELECT {turn:UInt64}, account, vehicle, toUInt64(max(day))
FROM checkpoints FINAL
WHERE account IN {accounts:Array(UInt64)} AND day < fromUnixTimestamp64Milli({before:Int64}, 'UTC') AND NOT dropped
GROUP BY account, vehicle
