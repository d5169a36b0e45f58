-- What is stored of given vehicles and was recognised after a time or goes on, also what was deleted since. Alerts of
-- pairs are left out: no vehicle's own fixes explain them.
-- External: wanted (account UInt64, vehicle UInt64, after_ms Int64)
SELECT d.account, d.vehicle, CAST(d.kind, 'String'), d.id, d.revision, toUnixTimestamp64Milli(d.recognised_at), d.open, d.deleted, d.late,
    d.digest, if(d.open AND d.kind IN ('alert', 'visit'), d.body, '')
FROM (SELECT * FROM derivations FINAL WHERE (account, vehicle) IN (SELECT account, vehicle FROM wanted)) AS d
INNER JOIN wanted AS w ON d.account = w.account AND d.vehicle = w.vehicle
WHERE (d.open OR toUnixTimestamp64Milli(d.recognised_at) > w.after_ms)
    AND NOT (d.kind = 'alert' AND JSONExtractString(d.body, 'alert_kind') = 'proximity')
