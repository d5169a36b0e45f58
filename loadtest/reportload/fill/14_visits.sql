-- steps: 10
INSERT INTO visits (account, vehicle, id, revision, start_at, end_at, local_date, updated_at, geofence, body)
SELECT account, vehicle, id, 1, end_at, end_at + toIntervalHour(id % 60), local_date, updated_at, 1 + id % 50, '{}'
FROM trips WHERE account = 7 AND toYear(start_at) = 2020 + {step:UInt32} AND cityHash64(id) % 4 = 0
