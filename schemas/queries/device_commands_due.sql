-- Commands of all accounts with which something is to be done now: queued ones that expired, or that Traccar may be asked to send;
-- those that somebody began to send at {stuck} or before and never told of. A command cannot
-- live longer than seven days, so older granules are passed over.
SELECT account, id
FROM device_commands FINAL
WHERE archived_at IS NULL AND expires_at > fromUnixTimestamp64Milli({now:Int64}, 'UTC') - toIntervalDay(30)
    AND (status = 'queued' AND (expires_at <= fromUnixTimestamp64Milli({now:Int64}, 'UTC')
            OR transport = 'traccar' AND try_at <= fromUnixTimestamp64Milli({now:Int64}, 'UTC'))
        OR status = 'sending' AND status_since <= fromUnixTimestamp64Milli({stuck:Int64}, 'UTC'))
ORDER BY account, id
LIMIT {limit:UInt64}
