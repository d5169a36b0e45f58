-- Which of the {absences} (both ends excluded; those of a vehicle do not overlap) hold a fix without a flag of {without} and
-- {jump}: vehicle and since of each. A fix that was flagged as a jump later may stand there twice until its rows are merged. The
-- hours that an absence touches make a set over the key, so that only their granules are read.
-- External: absences (vehicle UInt64, since Int64, until Int64)
-- External: hours (vehicle UInt64, hour UInt32)
SELECT DISTINCT p.vehicle, a.since
FROM
(
    SELECT vehicle, toUnixTimestamp64Milli(fix_time) AS at
    FROM positions
    WHERE account = {account:UInt64}
        AND (vehicle, toStartOfHour(fix_time)) IN (SELECT vehicle, toDateTime(hour, 'UTC') FROM hours)
        AND bitAnd(flags, {without:UInt32}) = 0
    GROUP BY vehicle, fix_time, cell
    HAVING max(bitAnd(flags, {jump:UInt32})) = 0
) AS p
ASOF INNER JOIN absences AS a ON p.vehicle = a.vehicle AND p.at > a.since
WHERE p.at < a.until
