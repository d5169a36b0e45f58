-- How many rows of an import were refused and are listed.
SELECT count()
FROM job_errors FINAL
WHERE account = {account:UInt64} AND job = {job:UInt64}
