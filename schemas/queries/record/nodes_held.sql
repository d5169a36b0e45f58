-- The newest claim on each node number that was ever leased: its revision, and its age by the server's clock.
SELECT value, max(revision) AS newest, dateDiff('millisecond', argMax(at, revision), now64(3, 'UTC')) AS age_ms
FROM claim_log
WHERE account = 0 AND field = 'node'
GROUP BY value
