-- steps: 1
-- 300,000 quotes, of which a third became a booking.
INSERT INTO quotes (account, id, revision, created_at, updated_at, body)
SELECT account, id, 1, created_at, created_at, concat('{"number":"Q-', toString(id), '","booking_id":"', if(id % 3 = 0, concat('bkg_', toString(id)), ''),
    '","channel":"', channel, '","vehicle_class_id":"', vehicle_class_id, '","pickup_location_id":"', pickup_location_id, '","customer_id":"', customer_id,
    '","expires_at":"', formatDateTime(created_at + INTERVAL 1 DAY, '%FT%TZ'), '","rate_snapshot":{"currency":"', currency,
    '","totals":{"total":{"amount":', toString(total_minor), '}},"steps":["', repeat('a step of the price in words","', 20), '"]}}')
FROM bookings WHERE account = 7 AND id % 7 < 3
