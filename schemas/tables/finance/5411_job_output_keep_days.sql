-- How long a row is kept: what was exported for 30 days, a report for 90.
ALTER TABLE job_output ADD COLUMN IF NOT EXISTS keep_days UInt16 DEFAULT 30
