-- steps: 1
-- 20 classes.
INSERT INTO vehicle_classes (account, id, revision, created_at, updated_at, body)
SELECT 7, number + 1, 1, '2020-01-01 00:00:00', '2020-01-01 00:00:00', concat('{"name":"Class ', toString(number + 1), '","code":"C', toString(number + 1), '"}')
FROM numbers(20)
