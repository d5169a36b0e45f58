-- Backfills of all accounts of which as many steps are done as there are, and whose records do not say so yet, with when the last was done.
WITH open AS (
    SELECT account, id, JSONExtractUInt(body, 'total') AS total
    FROM jobs FINAL
    WHERE kind = 'geofence_backfill' AND JSONExtractString(body, 'finished_at') = '' AND JSONExtractString(body, 'error') = '' AND total > 0
)
SELECT open.account, open.id, done.ended
FROM open
INNER JOIN (
    SELECT account, job, uniqExact(step) AS steps, max(at) AS ended
    FROM job_steps
    WHERE (account, job) IN (SELECT account, id FROM open)
    GROUP BY account, job
) AS done ON done.account = open.account AND done.job = open.id
WHERE done.steps >= open.total
ORDER BY open.account, open.id
