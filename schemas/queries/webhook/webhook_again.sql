-- Deliveries of an endpoint are to be tried again, as if they had never been: one with an id, or (id 0) those of some states whose
-- events were noted in [since, until) (ms) and are of some types, all if none is named. What the endpoint's owner has in hand, and what
-- was not tried yet, is left alone.
-- It is asked for a day at a time. EXPLAIN indexes=1, of 3 million rows of 30 days and a hundred endpoints: 4 of 2,939 granules, those
-- of the endpoint of the day.
INSERT INTO webhook_deliveries
SELECT account, endpoint, sequence, id, version + 1, event, type, vehicle, replay, created_at,
    fromUnixTimestamp64Milli({now:Int64}, 'UTC'), 'pending', attempts, 0,
    fromUnixTimestamp64Milli({now:Int64}, 'UTC'), response_status, duration_ms, error
FROM webhook_deliveries FINAL
WHERE account = {account:UInt64} AND endpoint = {endpoint:UInt64}
    AND if({id:UInt64} = 0, status IN {statuses:Array(String)}
        AND created_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
        AND created_at < fromUnixTimestamp64Milli({until:Int64}, 'UTC')
        AND (empty({types:Array(String)}) OR has({types:Array(String)}, type)),
        id = {id:UInt64} AND status != 'pending')
    AND id NOT IN (SELECT arrayJoin({held:Array(UInt64)}))
SETTINGS do_not_merge_across_partitions_select_final = 1
