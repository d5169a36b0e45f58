-- What keeps a vehicle from being rented: its open safety-critical issues, and the work orders that are being carried out on it.
-- Issues and work orders are read from the log by its key: those of an account are few beside its bookings.
SELECT kind, id
FROM (
    SELECT kind, id, argMax(body, revision) AS body, argMax(archived_at IS NULL, revision) AS in_use
    FROM record_log
    WHERE account = {account:UInt64} AND kind IN ('issue', 'work_order')
    GROUP BY kind, id
)
WHERE in_use AND JSONExtractString(body, 'vehicle_id') = {vehicle:String}
    AND (kind = 'issue' AND JSONExtractString(body, 'severity') = 'safety_critical' AND JSONExtractString(body, 'status') IN ('open', 'in_progress')
        OR kind = 'work_order' AND JSONExtractString(body, 'status') IN ('in_progress', 'on_hold'))
ORDER BY kind, id
