-- The accounts, vehicles and devices that were written since a time (ms), archived ones too, as they stand; all of them with since
-- 0. Of a device only what silence of it means. Read by query.Policies for what is known of a vehicle besides what its devices say.
SELECT account, 'account' AS kind, id, revision, updated_at, ifNull(toUnixTimestamp64Milli(archived_at), 0), body
FROM accounts FINAL
WHERE updated_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
UNION ALL
SELECT account, 'vehicle' AS kind, id, revision, updated_at, ifNull(toUnixTimestamp64Milli(archived_at), 0), body
FROM vehicles FINAL
WHERE updated_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
UNION ALL
SELECT account, 'device' AS kind, id, revision, updated_at, 0, JSONExtractRaw(body, 'no_data_s')
FROM devices FINAL
WHERE updated_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
