-- What lists of bookings go by besides: what the
-- desk has to do next: hand over a vehicle that is booked, or take one back that is out, when and where. Of bookings that are over nothing
-- is due: due_for is empty.
ALTER TABLE bookings
    ADD COLUMN IF NOT EXISTS due_for LowCardinality(String) ALIAS multiIf(status IN ('pending', 'confirmed'), 'pickup', status = 'active', 'return', ''),
    ADD COLUMN IF NOT EXISTS due_at DateTime64(3, 'UTC') ALIAS multiIf(status IN ('pending', 'confirmed'), pickup_at, status = 'active', return_at, fromUnixTimestamp64Milli(toInt64(0), 'UTC')),
    ADD COLUMN IF NOT EXISTS due_location_id String ALIAS multiIf(status IN ('pending', 'confirmed'), pickup_location_id, status = 'active', return_location_id, '')
