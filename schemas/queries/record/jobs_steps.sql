-- How far some of an account's jobs have come: steps done, those of them that failed, and when the first and the last was
-- done. A step that was done twice is one, and the last time counts.
SELECT job, count(), countIf(error != ''), min(at), max(at), anyIf(error, error != '')
FROM job_steps FINAL
WHERE account = {account:UInt64} AND job IN {jobs:Array(UInt64)}
GROUP BY job
