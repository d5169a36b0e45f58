-- The newest measurement of each signal of a vehicle.
SELECT signal, toUnixTimestamp64Milli(time), value
FROM telemetry_latest FINAL
WHERE account = {account:UInt64} AND vehicle = {vehicle:UInt64}
ORDER BY signal
