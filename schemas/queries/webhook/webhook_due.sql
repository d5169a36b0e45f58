-- What of an endpoint is not settled and not in its owner's hand, what is due first at first; each row with the least sequence and
-- time (ms) of all of it. Nothing that is meant is below {sequence} or made before {created} (ms), as its owner knows.
-- EXPLAIN indexes=1, of 3 million rows of 30 days and a hundred endpoints: from the beginning 124 of 2,939 granules, the endpoint's
-- (40 ms); with the bounds of a day ago 4 (20 ms).
SELECT sequence, id, version, event, type, vehicle, replay, toUnixTimestamp64Milli(created_at), attempts, tries,
    toUnixTimestamp64Milli(next_at), min(sequence) OVER (), toUnixTimestamp64Milli(min(created_at) OVER ())
FROM webhook_deliveries FINAL
WHERE account = {account:UInt64} AND endpoint = {endpoint:UInt64} AND status IN ('pending', 'retrying')
    AND id NOT IN (SELECT arrayJoin({held:Array(UInt64)}))
    AND sequence >= {sequence:UInt64} AND created_at >= fromUnixTimestamp64Milli({created:Int64}, 'UTC')
ORDER BY next_at, sequence, id
LIMIT {limit:UInt64}
SETTINGS do_not_merge_across_partitions_select_final = 1
