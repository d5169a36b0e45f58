-- What lists of vehicles filter by besides. The columns are worked out of the record, which every row holds, so that rows
-- that were written before have them too, and the view that feeds the table needs no change.
ALTER TABLE vehicles
    ADD COLUMN IF NOT EXISTS vehicle_class_id LowCardinality(String) DEFAULT JSONExtractString(body, 'vehicle_class_id'),
    ADD COLUMN IF NOT EXISTS home_location_id LowCardinality(String) DEFAULT JSONExtractString(body, 'home_location_id'),
    ADD COLUMN IF NOT EXISTS current_location_id LowCardinality(String) DEFAULT JSONExtractString(body, 'current_location_id'),
    ADD COLUMN IF NOT EXISTS rate_plan_id LowCardinality(String) DEFAULT JSONExtractString(body, 'rate_plan_id'),
    ADD COLUMN IF NOT EXISTS owner_customer_id String DEFAULT JSONExtractString(body, 'owner_customer_id'),
    ADD COLUMN IF NOT EXISTS ownership LowCardinality(String) DEFAULT JSONExtractString(body, 'ownership'),
    ADD COLUMN IF NOT EXISTS transmission LowCardinality(String) DEFAULT JSONExtractString(body, 'transmission'),
    ADD COLUMN IF NOT EXISTS drivetrain LowCardinality(String) DEFAULT JSONExtractString(body, 'drivetrain'),
    ADD COLUMN IF NOT EXISTS seats UInt16 DEFAULT toUInt16(JSONExtractUInt(body, 'seats')),
    ADD COLUMN IF NOT EXISTS status_since DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'status_since'), 3, 'UTC')
