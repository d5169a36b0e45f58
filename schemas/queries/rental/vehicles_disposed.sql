-- The vehicles of all accounts that stand ready, or are about to, although they may be disposed of by now: by the date that is first anywhere on
-- earth; whoever reads them knows their zones. EXPLAIN indexes=1: of vehicles what is read of all is status, and body of those that stand so.
SELECT account, id AS vehicle, '' AS cause
FROM vehicles FINAL
WHERE archived_at IS NULL AND status IN ('available', 'turnaround', 'maintenance') AND body LIKE '%"disposal_on":"%'
    AND toDate32OrNull(JSONExtractString(body, 'disposal_on')) <= toDate32(fromUnixTimestamp64Milli({now:Int64}, 'UTC') + INTERVAL 14 HOUR)
