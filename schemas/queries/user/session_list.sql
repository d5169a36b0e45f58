-- The sessions of an account, or of one person of it, that began since an instant and were not ended, the newest first.
SELECT account, user, id, max(token), max(factors), max(began_at), max(seen_at), max(ended_at), max(address), max(agent)
FROM sessions
WHERE account = {account:UInt64} AND ({user:UInt64} = 0 OR user = {user:UInt64})
GROUP BY account, user, id
HAVING max(began_at) > fromUnixTimestamp64Milli({since:Int64}, 'UTC') AND toUnixTimestamp64Milli(max(ended_at)) = 0
    AND max(seen_at) > fromUnixTimestamp64Milli({idle:Int64}, 'UTC')
ORDER BY id DESC
LIMIT 1000
