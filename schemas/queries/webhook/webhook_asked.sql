-- When the newest recover or replay of an endpoint was asked for (ms; 0: none) at which somebody worked at since {since} (ms), and that is
-- not done, or is a replay of whose deliveries some are not settled; and whether the latter is all that is left. One that is asked for
-- again under its id is itself. Deliveries of a replay are of the day on which it was asked for.
-- EXPLAIN indexes=1: the granule of the endpoint, and of deliveries those of the endpoint of two days.
SELECT toUnixTimestamp64Milli(max(asked_at)), min(done)
FROM webhook_asked FINAL
WHERE account = {account:UInt64} AND endpoint = {endpoint:UInt64} AND kind = {kind:String} AND id != {id:UInt64}
    AND updated_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
    AND (NOT done OR id IN
    (
        SELECT replay
        FROM webhook_deliveries FINAL
        WHERE account = {account:UInt64} AND endpoint = {endpoint:UInt64} AND replay != 0 AND status IN ('pending', 'retrying')
            AND created_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC') - INTERVAL 1 DAY
        SETTINGS do_not_merge_across_partitions_select_final = 1
    ))
