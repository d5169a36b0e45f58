-- Charges that were derived lately are found without parts and granules of another time; of those that stand already
-- when they are merged.
ALTER TABLE charges ADD INDEX IF NOT EXISTS updated_at_minmax updated_at TYPE minmax GRANULARITY 1
