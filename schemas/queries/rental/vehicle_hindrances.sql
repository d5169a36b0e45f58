-- What keeps a vehicle from being rented: its open safety-critical issues, and the work orders that are being carried out on it.
SELECT 'issue' AS kind, id
FROM issues FINAL
WHERE account = {account:UInt64} AND vehicle_id = {vehicle:String} AND archived_at IS NULL
    AND severity = 'safety_critical' AND status IN ('open', 'in_progress')
ORDER BY id
UNION ALL
SELECT 'work_order' AS kind, id
FROM work_orders FINAL
WHERE account = {account:UInt64} AND vehicle_id = {vehicle:String} AND archived_at IS NULL AND status IN ('in_progress', 'on_hold')
ORDER BY id
