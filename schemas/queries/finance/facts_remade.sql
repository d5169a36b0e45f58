-- Whether facts are being made again as a program of another version has made them before: until that is done, what is
-- read of them may be of the version before, or missing.
SELECT count() > 0 AND countIf(account = 0 AND version = {version:UInt32}) = 0
FROM fact_runs
