-- record_log is asked what was written lately: parts and granules of another time are passed over.
ALTER TABLE record_log ADD INDEX IF NOT EXISTS at_minmax at TYPE minmax GRANULARITY 1
