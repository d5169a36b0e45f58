-- The vehicles of all accounts that are new since {until}, or whose time zone, or their account's, was changed since: facts
-- may not know their local days yet. A part of other queries. EXPLAIN indexes=1: record_log by at_minmax and by key.
WITH
    since AS (SELECT account, kind, id, min(revision) AS newer FROM record_log
        WHERE kind IN ('account', 'vehicle') AND at >= fromUnixTimestamp64Milli({until:Int64}, 'UTC') GROUP BY account, kind, id),
    rezoned AS
    (
        SELECT account, kind, id FROM record_log INNER JOIN since USING (account, kind, id)
        WHERE kind IN ('account', 'vehicle') AND revision + 1 >= newer AND (account, kind, id) IN (SELECT account, kind, id FROM since)
        GROUP BY account, kind, id
        HAVING uniqExact(JSONExtractString(body, 'timezone')) > 1 OR any(newer) = 1
    )
SELECT account, id AS vehicle FROM vehicles
WHERE (account, id) IN (SELECT account, id FROM rezoned WHERE kind = 'vehicle') OR account IN (SELECT account FROM rezoned WHERE kind = 'account')
