-- steps: 1
-- 100,000 work orders.
INSERT INTO work_orders (account, id, revision, created_at, updated_at, body)
SELECT account, id, 1, created_at, created_at, concat('{"number":"W-', toString(id), '","vehicle_id":"', vehicle_id, '","type":"service","status":"completed",',
    '"title":"Service","total":{"amount":25000,"currency":"USD"},"lines":["', repeat('what was done","', 20), '"]}')
FROM blocks WHERE account = 7
