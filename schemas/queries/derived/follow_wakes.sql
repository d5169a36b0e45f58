-- When silence will mean something, of every vehicle that has a checkpoint; 0 for never.
SELECT account, vehicle, argMax(ifNull(toUnixTimestamp64Milli(wake_at), 0), at)
FROM checkpoints FINAL
WHERE NOT dropped AND format = {format:UInt32}
GROUP BY account, vehicle
