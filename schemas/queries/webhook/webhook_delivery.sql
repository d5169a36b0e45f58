-- One delivery of an account. EXPLAIN indexes=1, of 3 million rows of ten accounts: 302 of 2,939 granules by the account, and 6
-- of them by the index of ids (21 ms).
SELECT id, endpoint, sequence, event, type, vehicle, replay, toUnixTimestamp64Milli(created_at),
    toUnixTimestamp64Milli(updated_at), status, attempts, toUnixTimestamp64Milli(next_at), response_status, duration_ms, error
FROM webhook_deliveries FINAL
WHERE account = {account:UInt64} AND id = {id:UInt64}
SETTINGS do_not_merge_across_partitions_select_final = 1
