-- Positions that were stored before heard was there: when each device was last heard of by them.
INSERT INTO heard
SELECT account, device, vehicle, max(received_at) AS heard_at
FROM positions
GROUP BY account, device, vehicle
