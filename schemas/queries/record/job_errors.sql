-- The rows of an import that were refused, in order.
SELECT row, code, detail, errors
FROM job_errors FINAL
WHERE account = {account:UInt64} AND job = {job:UInt64}
ORDER BY row
LIMIT {limit:UInt32} OFFSET {offset:UInt32}
