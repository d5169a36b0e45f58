-- The vehicles of an account that have visits of a geofence which end at or after a time (ms): a backfill derives those
-- again even if the geofence has ceased to be about them.
SELECT vehicle, min(start_at), max(end_at)
FROM visits FINAL
WHERE account = {account:UInt64} AND geofence = {geofence:UInt64} AND NOT deleted
    AND (open OR end_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC'))
GROUP BY vehicle
ORDER BY vehicle
