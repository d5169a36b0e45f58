-- steps: 1
-- 5,000 vehicles of 4 makes in 20 classes at 12 locations; half of them belong to 200 owners, a quarter is electric.
INSERT INTO vehicles (account, id, revision, created_at, updated_at, body)
WITH number + 1 AS v
SELECT 7, v, 300, '2020-01-01 00:00:00', '2029-12-31 00:00:00',
    concat('{"make":"', ['Tesla', 'Ford', 'Kia', 'Toyota'][1 + v % 4], '","model":"Model ', toString(v % 30), '","year":2019,"license_plate":"P-',
        toString(v), '","vin":"VIN', toString(10000000000000 + v), '","status":"available","fuel_type":"', if(v % 4 = 0, 'electric', 'gasoline'),
        '","fuel_capacity_gal":15,"battery_kwh":75,"timezone":"', if(v % 4 = 1, 'America/Chicago', ''),
        '","vehicle_class_id":"vcl_', toString(1 + v % 20), '","home_location_id":"loc_', toString(1 + intDiv(v, 20) % 12),
        '","owner_customer_id":"', if(v % 2 = 0, concat('cus_', toString(200001 + intDiv(v, 2) % 200)), ''),
        '","tags":["t', toString(v % 7), '","u', toString(v % 3), '"],"acquired_on":"2020-01-01","in_service_on":"2020-01-01",',
        '"acquisition_cost":{"amount":3000000,"currency":"USD"},"depreciation_method":"straight_line","useful_life_months":180,',
        '"notes":"', repeat('something about it ', 40), '"}')
FROM numbers(5000)
