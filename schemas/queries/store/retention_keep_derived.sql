-- Notes for a turn which things derived stay although they began before the cut: those that go on, and those that ended after it.
INSERT INTO retention_keeps (turn, account, vehicle, id)
SELECT {turn:UInt64}, account, vehicle, id
FROM derivations FINAL
WHERE account IN {accounts:Array(UInt64)} AND start_at < fromUnixTimestamp64Milli({before:Int64}, 'UTC')
    AND (open OR end_at >= fromUnixTimestamp64Milli({before:Int64}, 'UTC'))
