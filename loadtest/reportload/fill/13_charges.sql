-- steps: 10
INSERT INTO charges (account, vehicle, id, revision, start_at, end_at, local_date, updated_at, energy_kwh, body)
SELECT account, vehicle, id, 1, end_at, end_at + INTERVAL 1 HOUR, local_date, updated_at, if(id % 8 = 0, NULL, 20), '{}'
FROM trips WHERE account = 7 AND toYear(start_at) = 2020 + {step:UInt32} AND vehicle % 4 = 0 AND id % 3 = 0
