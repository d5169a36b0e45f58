-- The accounts of which something became older than their retention since it was last deleted, by the instant (ms) before which it goes: a
-- midnight of UTC, so that it is a day's worth at least.
SELECT before_ms, groupArray(id)
FROM
(
    SELECT id, intDiv({now:Int64}, 86400000) * 86400000 - toInt64(retention_days) * 86400000 AS before_ms
    FROM accounts FINAL
    WHERE retention_days > 0
) AS a
LEFT JOIN (SELECT account, toUnixTimestamp64Milli(max(cut_at)) AS cut_ms FROM retention_cuts WHERE done GROUP BY account) AS c ON c.account = a.id
WHERE before_ms > cut_ms AND before_ms > 0
GROUP BY before_ms
ORDER BY before_ms
