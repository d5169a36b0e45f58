-- steps: 1
INSERT INTO fact_runs (version, account, local_date, made_at, records_until, entries_until, vehicles, took_ms)
VALUES (2, 0, '2030-01-01', '2030-01-01 00:00:00', '2030-01-01 00:00:00', '2030-01-01 00:00:00', 5000, 1)
