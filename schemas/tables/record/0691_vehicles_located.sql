-- Since when a vehicle is at its current location, as far as transfers go; 1970 if nobody said. Worked out of the record, which every row holds.
ALTER TABLE vehicles
    ADD COLUMN IF NOT EXISTS located_at DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'located_at'), 3, 'UTC')
