-- steps: 10
INSERT INTO alerts (account, vehicle, id, revision, start_at, end_at, local_date, updated_at, alert_kind, severity, body)
SELECT account, vehicle, id, 1, start_at, end_at, local_date, updated_at, ['speeding', 'idling', 'offline'][1 + id % 3],
    ['info', 'warning', 'critical'][1 + id % 3], '{}'
FROM trips WHERE account = 7 AND toYear(start_at) = 2020 + {step:UInt32} AND cityHash64(id) % 12 = 2
