-- Takes the states of vehicles from the revisions that were written at an instant or later, of one account or, if that is
-- 0, of all. EXPLAIN indexes=1: record_log by at_minmax, or by its key.
INSERT INTO vehicle_statuses (account, vehicle, since, revision, status)
SELECT account, id, if(toUnixTimestamp64Milli(since) = 0, created_at, since), revision, JSONExtractString(body, 'status')
FROM
(
    SELECT *, parseDateTime64BestEffortOrZero(JSONExtractString(body, 'status_since'), 3, 'UTC') AS since
    FROM record_log
    WHERE kind = 'vehicle' AND at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
        AND ({account:UInt64} = 0 OR account = {account:UInt64})
)
