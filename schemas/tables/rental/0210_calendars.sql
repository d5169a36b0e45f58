-- Grain: one calendar, its newest revision: of a vehicle (kind calendar, under the vehicle's id) or of a class (kind class_calendar). Key:
-- (account, kind, id). Fed by calendars_feed from record_log. A hold is the same place in each of the arrays; hold_expires is
-- 1970 for one that does not lapse. Serves: which vehicles are taken in a period (busy_vehicles). Read with FINAL. The decision who
-- holds a vehicle is never made here but in the calendar's record: this is for searches.
CREATE TABLE IF NOT EXISTS calendars
(
    account       UInt64,
    kind          LowCardinality(String),
    id            UInt64,
    revision      UInt64,
    updated_at    DateTime64(3, 'UTC'),
    hold_refs     Array(String),
    hold_from     Array(DateTime64(3, 'UTC')),
    hold_until    Array(DateTime64(3, 'UTC')),
    hold_expires  Array(DateTime64(3, 'UTC')),
    hold_conflict Array(Bool)
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, kind, id)
SETTINGS non_replicated_deduplication_window = 10000
