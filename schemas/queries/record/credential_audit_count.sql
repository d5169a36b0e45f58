-- How many rows credential_audit_list.sql gives without a cursor and a limit.
SELECT count()
FROM (
    SELECT toUnixTimestamp64Milli(min(first_at)) AS first, max(client) AS shown
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
)
