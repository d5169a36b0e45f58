-- steps: 1
-- 12 locations in two time zones.
INSERT INTO locations (account, id, revision, created_at, updated_at, body)
SELECT 7, number + 1, 1, '2020-01-01 00:00:00', '2020-01-01 00:00:00',
    concat('{"name":"Location ', toString(number + 1), '","timezone":"', ['America/New_York', 'America/Chicago'][1 + number % 2], '"}')
FROM numbers(12)
