-- Visits that end in or after a span are found without the parts of months long ago: a visit may take months. Of parts
-- that stand already when they are merged.
ALTER TABLE visits ADD INDEX IF NOT EXISTS end_at_minmax end_at TYPE minmax GRANULARITY 1
