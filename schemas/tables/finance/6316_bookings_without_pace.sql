-- The index that pace read bookings by goes before its column does.
ALTER TABLE bookings DROP INDEX IF EXISTS billed_until_minmax
