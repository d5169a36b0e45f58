-- The steps of a job that are done.
SELECT DISTINCT step
FROM job_steps
WHERE account = {account:UInt64} AND job = {job:UInt64}
