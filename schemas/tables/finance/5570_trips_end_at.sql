-- Trips that end in or after a span are found without the parts of months long ago: a way that nobody saw may take weeks. Of parts that
-- stand already when they are merged.
ALTER TABLE trips ADD INDEX IF NOT EXISTS end_at_minmax end_at TYPE minmax GRANULARITY 1
