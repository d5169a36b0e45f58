-- The records that an attempt at an export wrote, in order.
SELECT body
FROM job_output
WHERE account = {account:UInt64} AND job = {job:UInt64} AND attempt = {attempt:UInt32}
ORDER BY row
