-- steps: 10
-- A stop after each trip; the engine runs on during half of them.
INSERT INTO stops (account, vehicle, id, revision, start_at, end_at, local_date, updated_at, idle_s, closed_reason, body)
SELECT account, vehicle, id, 1, end_at, end_at + INTERVAL 1 HOUR, local_date, updated_at, if(id % 2 = 0, id % 300, 0), 'moved', '{}'
FROM trips WHERE account = 7 AND toYear(start_at) = 2020 + {step:UInt32}
