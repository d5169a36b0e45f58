-- The customers that were merged into some of an account's customers, directly, each with the one it was merged into, as the log has it: customers_merged may not know yet of a
-- merge that stands. For erasure.
SELECT id, argMax(JSONExtractString(body, 'merged_into'), revision) AS merged_into
FROM record_log
WHERE account = {account:UInt64} AND kind = 'customer'
GROUP BY id
HAVING merged_into IN {into:Array(String)}
ORDER BY id
