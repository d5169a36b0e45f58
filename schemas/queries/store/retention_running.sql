-- How many mutations of a table are not done, and why one of them fails.
SELECT count(), anyIf(latest_fail_reason, latest_fail_reason != '')
FROM system.mutations
WHERE database = currentDatabase() AND table = {table:String} AND NOT is_done
