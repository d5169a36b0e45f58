-- Whether facts of an account are still to be made again as a program of another version has made them before: until then what is
-- read of them may be of the version before, or missing. What bookings and customers came to is made before the first month is noted.
SELECT count() > 0 AND countIf(account IN (0, {account:UInt64}) AND version = {version:UInt32}) = 0
FROM fact_runs
