-- Which of some vehicles of an account have an open issue that is critical for safety, with the issues.
SELECT toUInt64OrZero(extract(vehicle_id, '[0-9]+')) AS vehicle, groupArray(id) AS issues
FROM issues FINAL
WHERE account = {account:UInt64} AND vehicle_id IN {vehicles:Array(String)} AND archived_at IS NULL
    AND severity = 'safety_critical' AND status IN ('open', 'in_progress')
GROUP BY vehicle_id
