-- Bookings that are due for something are found without the granules in which no version has that deposit_status.
ALTER TABLE bookings ADD INDEX IF NOT EXISTS deposit_status_set deposit_status TYPE set(16) GRANULARITY 1
