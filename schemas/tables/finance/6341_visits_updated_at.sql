-- Visits that were derived lately are found without parts and granules of another time.
ALTER TABLE visits ADD INDEX IF NOT EXISTS updated_at_minmax updated_at TYPE minmax GRANULARITY 1
