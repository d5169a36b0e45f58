-- By what it may be known who drove some vehicles of an account: what people said, the tags that trackers told, and bookings that had
-- them. Vehicles of which there is nothing are left out.
-- EXPLAIN indexes=1: by the keys of trip_drivers and tag_reports; of bookings the whole account, as its key is of bookings.
SELECT vehicle, max(said) = 1, max(tagged) = 1, max(booked) = 1
FROM (
    SELECT DISTINCT vehicle, 1 AS said, 0 AS tagged, 0 AS booked
    FROM trip_drivers
    WHERE account = {account:UInt64} AND vehicle IN {vehicles:Array(UInt64)}
    UNION ALL
    SELECT DISTINCT vehicle, 0, 1, 0
    FROM tag_reports
    WHERE account = {account:UInt64} AND vehicle IN {vehicles:Array(UInt64)}
    UNION ALL
    SELECT DISTINCT toUInt64OrZero(substring(vehicle_id, 5)), 0, 0, 1
    FROM bookings
    WHERE account = {account:UInt64} AND actual_pickup_at > 0
        AND vehicle_id IN arrayMap(v -> concat('veh_', toString(v)), {vehicles:Array(UInt64)})
)
GROUP BY vehicle
