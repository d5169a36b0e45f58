-- Finds the few expenses of a recurring cost among those of an account. Serves: the duty that makes expenses by schedule.
ALTER TABLE expenses ADD INDEX IF NOT EXISTS scheduled_by_bloom scheduled_by TYPE bloom_filter GRANULARITY 1
