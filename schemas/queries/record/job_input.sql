-- The rows of a file that is imported, in order.
SELECT row, body, fault
FROM job_input
WHERE account = {account:UInt64} AND job = {job:UInt64}
ORDER BY row
