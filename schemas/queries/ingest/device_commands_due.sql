-- Commands of all accounts with which something is to be done now: queued ones that expired, or that Traccar may be asked to send and
-- that are not {waiting}; those that somebody began to send at {stuck} or before and never told of. Accounts take turns, and none has more
-- than {share}. A command cannot live longer than seven days, so older granules are passed over.
SELECT account, id
FROM device_commands FINAL
WHERE archived_at IS NULL AND expires_at > fromUnixTimestamp64Milli({now:Int64}, 'UTC') - toIntervalDay(30)
    AND (status = 'queued' AND (expires_at <= fromUnixTimestamp64Milli({now:Int64}, 'UTC')
            OR transport = 'traccar' AND try_at <= fromUnixTimestamp64Milli({now:Int64}, 'UTC') AND id NOT IN {waiting:Array(UInt64)})
        OR status = 'sending' AND status_since <= fromUnixTimestamp64Milli({stuck:Int64}, 'UTC'))
ORDER BY row_number() OVER (PARTITION BY account ORDER BY try_at, id), try_at, account, id
LIMIT {share:UInt64} BY account
LIMIT {limit:UInt64}
