-- What the passing of time is to do with vehicles is looked up by these; worked out of the record, as in 0253.
ALTER TABLE vehicles
    ADD COLUMN IF NOT EXISTS status_cause String DEFAULT JSONExtractString(body, 'status_cause'),
    ADD COLUMN IF NOT EXISTS status_until DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'status_until'), 3, 'UTC')
