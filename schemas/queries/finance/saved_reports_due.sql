-- The saved reports of all accounts that are due, the one that waits longest first.
SELECT account, id
FROM saved_reports FINAL
WHERE archived_at IS NULL AND toUnixTimestamp64Milli(next_at) > 0 AND next_at <= fromUnixTimestamp64Milli({now:Int64}, 'UTC')
ORDER BY next_at, account, id
LIMIT 1000
