-- The notes and documents of some of an account's customers, deleted ones too. It asks the log: a table of current records may not know yet
-- what stands there, and what is erased is looked for once.
SELECT kind, id
FROM record_log
WHERE account = {account:UInt64} AND kind IN ('customer_note', 'document')
GROUP BY kind, id
HAVING argMax(JSONExtractString(body, 'customer_id'), revision) IN {customers:Array(String)}
ORDER BY kind, id
