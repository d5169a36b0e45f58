-- record_log to calendars, with which holds are open and where they begin and end. Instants in records are RFC 3339 in UTC, or null.
INSERT INTO calendars
    (account, kind, id, revision, updated_at, hold_refs, hold_from, hold_until, hold_expires, hold_conflict, hold_open, hold_begins, hold_ends)
WITH JSONExtractArrayRaw(body, 'holds') AS holds
SELECT
    account, kind, id, revision, at AS updated_at,
    arrayMap(h -> JSONExtractString(h, 'ref'), holds) AS hold_refs,
    arrayMap(h -> parseDateTime64BestEffortOrZero(JSONExtractString(h, 'from'), 3, 'UTC'), holds) AS hold_from,
    arrayMap(h -> parseDateTime64BestEffortOrZero(JSONExtractString(h, 'until'), 3, 'UTC'), holds) AS hold_until,
    arrayMap(h -> parseDateTime64BestEffortOrZero(JSONExtractString(h, 'expires'), 3, 'UTC'), holds) AS hold_expires,
    arrayMap(h -> JSONExtractBool(h, 'conflict'), holds) AS hold_conflict,
    arrayMap(h -> JSONExtractBool(h, 'open'), holds) AS hold_open,
    arrayMap(h -> JSONExtractString(h, 'begins'), holds) AS hold_begins,
    arrayMap(h -> JSONExtractString(h, 'ends'), holds) AS hold_ends
FROM record_log
WHERE kind IN ('calendar', 'class_calendar')
