-- Imports, exports and reports of all accounts that are neither finished nor given up, and that nobody works on: of the last 30 days, oldest first.
SELECT account, id
FROM jobs FINAL
WHERE kind IN ('import', 'export', 'report') AND created_at > fromUnixTimestamp64Milli({now:Int64}, 'UTC') - INTERVAL 30 DAY
    AND NOT JSONExtractBool(body, 'transfer', 'finished') AND JSONExtractString(body, 'error') = ''
    AND ifNull(parseDateTime64BestEffortOrNull(JSONExtractString(body, 'transfer', 'lease_until'), 3, 'UTC'), toDateTime64(0, 3, 'UTC'))
        <= fromUnixTimestamp64Milli({now:Int64}, 'UTC')
ORDER BY created_at, id
LIMIT 100
