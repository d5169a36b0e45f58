-- Rows of job_output go when their own time is over.
ALTER TABLE job_output MODIFY TTL at + toIntervalDay(keep_days)
