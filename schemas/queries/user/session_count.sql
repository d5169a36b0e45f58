-- How many rows session_list.sql gives without a cursor and a limit.
SELECT count()
FROM (
    SELECT user, id, max(began_at) AS began
    FROM sessions
    WHERE account = {account:UInt64} AND ({user:UInt64} = 0 OR user = {user:UInt64})
        AND ({id:UInt64} = 0 OR id = {id:UInt64})
    GROUP BY account, user, id
    HAVING max(factors) = 2 AND began > fromUnixTimestamp64Milli({since:Int64}, 'UTC')
        AND toUnixTimestamp64Milli(max(ended_at)) = 0 AND max(seen_at) > fromUnixTimestamp64Milli({idle:Int64}, 'UTC')
) AS s
INNER JOIN (
    SELECT id, parseDateTime64BestEffortOrZero(JSONExtractString(body, 'sessions_ended_at'), 3, 'UTC') AS all_ended
    FROM users FINAL
    WHERE account = {account:UInt64} AND ({user:UInt64} = 0 OR id = {user:UInt64})
        AND NOT disabled AND archived_at IS NULL
) AS person ON person.id = s.user
WHERE s.began > person.all_ended
