-- Days of bookings that were made about the same time are found without reading all there are.
ALTER TABLE rental_days ADD INDEX IF NOT EXISTS booking_minmax booking TYPE minmax GRANULARITY 1
