-- The sessions of an account that let somebody in, the newest first: those of one person, or one of an id, where these
-- are given. They began since an instant, were used since another, were not ended, nor with all others of their person,
-- who may sign in. Behind the id {after}. EXPLAIN indexes=1: the granules of the account, or of the person.
SELECT s.account, s.user, s.id, s.secret, s.proved, s.began, s.seen, s.ended, s.client, s.browser
FROM (
    SELECT account, user, id, max(token) AS secret, max(factors) AS proved, max(began_at) AS began, max(seen_at) AS seen,
        max(ended_at) AS ended, max(address) AS client, max(agent) AS browser
    FROM sessions
    WHERE account = {account:UInt64} AND ({user:UInt64} = 0 OR user = {user:UInt64})
        AND ({id:UInt64} = 0 OR id = {id:UInt64})
    GROUP BY account, user, id
    HAVING proved = 2 AND began > fromUnixTimestamp64Milli({since:Int64}, 'UTC') AND toUnixTimestamp64Milli(ended) = 0
        AND seen > fromUnixTimestamp64Milli({idle:Int64}, 'UTC')
) AS s
INNER JOIN (
    SELECT id, parseDateTime64BestEffortOrZero(JSONExtractString(body, 'sessions_ended_at'), 3, 'UTC') AS all_ended
    FROM users FINAL
    WHERE account = {account:UInt64} AND ({user:UInt64} = 0 OR id = {user:UInt64})
        AND NOT disabled AND archived_at IS NULL
) AS person ON person.id = s.user
WHERE s.began > person.all_ended AND ({after:UInt64} = 0 OR s.id < {after:UInt64})
ORDER BY s.id DESC
LIMIT {limit:UInt64} OFFSET {offset:UInt64}
