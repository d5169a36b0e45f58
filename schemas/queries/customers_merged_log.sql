-- The customers that were merged into some of an account's customers, directly, as the log has it: customers_merged may not know yet of a
-- merge that stands. For erasure.
SELECT id
FROM record_log
WHERE account = {account:UInt64} AND kind = 'customer'
GROUP BY id
HAVING argMax(JSONExtractString(body, 'merged_into'), revision) IN {into:Array(String)}
ORDER BY id
