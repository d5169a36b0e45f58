-- Bookings that are due for something are found without the granules in which no version has that status.
ALTER TABLE bookings ADD INDEX IF NOT EXISTS status_set status TYPE set(16) GRANULARITY 1
