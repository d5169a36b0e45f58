-- record_log to calendars: the holds as arrays. Instants in records are RFC 3339 in UTC, or null.
CREATE MATERIALIZED VIEW IF NOT EXISTS calendars_feed TO calendars AS
WITH JSONExtractArrayRaw(body, 'holds') AS holds
SELECT
    account, kind, id, revision, at AS updated_at,
    arrayMap(h -> JSONExtractString(h, 'ref'), holds) AS hold_refs,
    arrayMap(h -> parseDateTime64BestEffortOrZero(JSONExtractString(h, 'from'), 3, 'UTC'), holds) AS hold_from,
    arrayMap(h -> parseDateTime64BestEffortOrZero(JSONExtractString(h, 'until'), 3, 'UTC'), holds) AS hold_until,
    arrayMap(h -> parseDateTime64BestEffortOrZero(JSONExtractString(h, 'expires'), 3, 'UTC'), holds) AS hold_expires,
    arrayMap(h -> JSONExtractBool(h, 'conflict'), holds) AS hold_conflict
FROM record_log
WHERE kind IN ('calendar', 'class_calendar')
