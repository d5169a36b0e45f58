-- The vehicles of all accounts that stand ready, or are about to, although they may be disposed of by now: by the date that is first anywhere on
-- earth; whoever reads them knows their zones. EXPLAIN indexes=1: of vehicles status and disposal_on are read of all; body in parts of before 5599 alone.
SELECT account, id AS vehicle, '' AS cause
FROM vehicles FINAL
WHERE archived_at IS NULL AND status IN ('available', 'turnaround', 'maintenance') AND disposal_on != ''
    AND toDate32OrNull(disposal_on) <= toDate32(fromUnixTimestamp64Milli({now:Int64}, 'UTC') + INTERVAL 14 HOUR)
