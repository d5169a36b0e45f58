-- Positions that were stored before heard_hours was there: in which minutes each device was heard of by them.
INSERT INTO heard_hours
SELECT account, device, toStartOfHour(received_at) AS hour, groupBitOr(bitShiftLeft(toUInt64(1), toMinute(received_at))) AS minutes
FROM positions
GROUP BY account, device, hour
SETTINGS max_partitions_per_insert_block = 0
