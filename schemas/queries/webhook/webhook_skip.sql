-- What is due of an endpoint that is paused, off or gone is skipped, but for what its owner has in hand; bounds as of webhook_due.
-- EXPLAIN indexes=1, as of webhook_due: 4 of 2,939 granules with the bounds of a day ago.
INSERT INTO webhook_deliveries
SELECT account, endpoint, sequence, id, version + 1, event, type, vehicle, replay, created_at,
    fromUnixTimestamp64Milli({now:Int64}, 'UTC'), 'skipped', attempts, tries, toDateTime64(0, 3, 'UTC'), response_status,
    duration_ms, {error:String}
FROM webhook_deliveries FINAL
WHERE account = {account:UInt64} AND endpoint = {endpoint:UInt64} AND status IN ('pending', 'retrying')
    AND sequence >= {sequence:UInt64} AND created_at >= fromUnixTimestamp64Milli({created:Int64}, 'UTC')
    AND next_at <= fromUnixTimestamp64Milli({now:Int64}, 'UTC') AND id NOT IN (SELECT arrayJoin({held:Array(UInt64)}))
SETTINGS do_not_merge_across_partitions_select_final = 1
