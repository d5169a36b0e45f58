-- The audit of the credentials of an account in [from, to) (ms), newest first, behind ({after_at}, {after_id}): of one
-- credential, of some acts, of one actor and from one address where these are given. What several processes counted in an
-- hour is one row; of what is not counted a repetition may know the address or not, and the one that does is shown.
-- An hour that began before {from} may have counted later. EXPLAIN indexes=1: the account's granules of the span.
SELECT toUnixTimestamp64Milli(min(first_at)) AS first, toUnixTimestamp64Milli(max(last_at)) AS last, credential,
    any(kind) AS kind, act, reason, actor, max(client) AS shown, if(item = 0, sum(count), 1) AS times,
    cityHash64(at, credential, act, reason, actor, item, counted) AS id
FROM (
    SELECT *, if(item = 0, client, '') AS counted
    FROM credential_audit FINAL
    WHERE account = {account:UInt64}
        AND at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') - toIntervalHour(1)
        AND at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
        AND ({credential:String} = '' OR credential = {credential:String})
        AND ({actor:String} = '' OR actor = {actor:String})
        AND (empty({acts:Array(String)}) OR act IN {acts:Array(String)})
)
GROUP BY at, credential, act, reason, actor, item, counted
HAVING first >= {from:Int64} AND first < {to:Int64} AND ({client:String} = '' OR shown = {client:String})
    AND ({after_id:UInt64} = 0 OR (first, id) < ({after_at:Int64}, {after_id:UInt64}))
ORDER BY first DESC, id DESC
LIMIT {limit:UInt64} OFFSET {offset:UInt64}
