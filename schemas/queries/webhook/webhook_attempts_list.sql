-- Attempts at an endpoint of an account in [from, to) (ms), newest first, behind ({after_at}, {after_id}): those of a
-- delivery if one is given, and those that failed if {failed} is 1. EXPLAIN indexes=1, of two days of 30 with 3 million rows:
-- 8 of 2,939 granules, the endpoint's; of a delivery what the index of deliveries leaves of them.
SELECT delivery, number, toUnixTimestamp64Milli(at) AS millis, event, type, url, request_head, request_bytes, succeeded,
    response_status, response_head, response_body, duration_ms, error
FROM webhook_attempts FINAL
WHERE account = {account:UInt64} AND endpoint = {endpoint:UInt64}
    AND at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    AND ({delivery:UInt64} = 0 OR delivery = {delivery:UInt64}) AND ({failed:UInt8} = 0 OR NOT succeeded)
    AND ({after_id:UInt64} = 0 OR (millis, delivery) < ({after_at:Int64}, {after_id:UInt64}))
ORDER BY at DESC, delivery DESC
LIMIT {limit:UInt64} OFFSET {offset:UInt64}
SETTINGS do_not_merge_across_partitions_select_final = 1
