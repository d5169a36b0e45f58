-- steps: 1
-- The account: ten years from 2020-01-01, whose books are in dollars.
INSERT INTO accounts (account, id, revision, created_at, updated_at, body)
VALUES (7, 7, 1, '2020-01-01 00:00:00', '2020-01-01 00:00:00', '{"name":"Ten years","timezone":"America/New_York","currency":"USD","energy_costs":{"gallon":{"amount":350,"currency":"USD"},"kwh":{"amount":15,"currency":"USD"}}}')
