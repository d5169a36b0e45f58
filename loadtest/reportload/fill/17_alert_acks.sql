-- steps: 1
INSERT INTO alert_acks (account, id, revision, created_at, updated_at, actor, body)
SELECT account, id, 1, start_at, start_at, 'somebody', '{}' FROM alerts WHERE account = 7 AND id % 5 = 0
