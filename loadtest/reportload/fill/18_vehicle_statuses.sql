-- steps: 1
INSERT INTO vehicle_statuses (account, vehicle, since, revision, status)
SELECT account, leg_vehicles[-1], s.1, 1, s.2
FROM bookings
ARRAY JOIN [(actual_pickup_at, 'rented'), (actual_return_at, 'turnaround'), (actual_return_at + toIntervalMinute(30 + id % 600), 'available')] AS s
WHERE account = 7 AND status = 'completed'
