-- The tags that trackers reported in [{from}, {to}) while nobody held them, the last reported first.
WITH held AS
(
    SELECT tag,
        groupArray((parseDateTime64BestEffortOrZero(JSONExtractString(holder, 'from'), 3, 'UTC'),
            parseDateTime64BestEffortOrZero(JSONExtractString(holder, 'until'), 3, 'UTC'))) AS spans
    FROM driver_tags FINAL
    ARRAY JOIN JSONExtractArrayRaw(body, 'holders') AS holder
    WHERE account = {account:UInt64}
    GROUP BY tag
)
SELECT r.tag, min(r.time), max(r.time) AS newest, count(), arraySort(groupUniqArray(100)(r.vehicle))
FROM tag_reports AS r LEFT JOIN held AS h ON h.tag = r.tag
WHERE r.account = {account:UInt64} AND r.tag != '0'
    AND r.time >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND r.time < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    AND NOT arrayExists(s -> s.1 <= r.time AND (s.2 = 0 OR r.time < s.2), h.spans)
GROUP BY r.tag
ORDER BY newest DESC, r.tag
LIMIT {limit:UInt64}
