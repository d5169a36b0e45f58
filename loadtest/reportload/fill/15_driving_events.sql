-- steps: 10
INSERT INTO driving_events (account, vehicle, id, revision, start_at, end_at, local_date, updated_at, what, body)
SELECT account, vehicle, id, 1, start_at, start_at + toIntervalSecond(id % 60), local_date, updated_at,
    ['harsh_braking', 'harsh_acceleration', 'harsh_cornering', 'speeding', 'crash'][1 + if(id % 1000 = 0, 4, id % 4)], '{}'
FROM trips WHERE account = 7 AND toYear(start_at) = 2020 + {step:UInt32} AND cityHash64(id) % 6 = 1
