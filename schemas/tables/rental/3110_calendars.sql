-- Grain: one calendar, its newest revision: of a vehicle (kind calendar, under the vehicle's id) or of a class
-- (kind class_calendar). Key: (account, kind, id). Filled from record_log. A hold is the same place in each of the
-- arrays; hold_expires is 1970 for one that does not lapse. Serves: which vehicles are taken in a period
-- (busy_vehicles). Read with FINAL. The decision who holds a vehicle is never made here but in the calendar's
-- record: this is for searches. A hold is open while its holder has driven off: then it does not end before it is
-- given up, however long after its end. hold_begins and hold_ends are the locations where it begins and where it
-- leaves its vehicle, by id, empty for wherever the vehicle is. The record itself is not kept here.
-- merge_selector_base is as in record_log.
CREATE TABLE IF NOT EXISTS calendars
(
    account       UInt64,
    kind          LowCardinality(String),
    id            UInt64,
    revision      UInt64,
    updated_at    DateTime64(3, 'UTC'),
    hold_refs     Array(String) DEFAULT tupleElement(holds, 'ref'),
    hold_from     Array(DateTime64(3, 'UTC'))
        DEFAULT arrayMap(t -> parseDateTime64BestEffortOrZero(t, 3, 'UTC'), tupleElement(holds, 'from')),
    hold_until    Array(DateTime64(3, 'UTC'))
        DEFAULT arrayMap(t -> parseDateTime64BestEffortOrZero(t, 3, 'UTC'), tupleElement(holds, 'until')),
    hold_expires  Array(DateTime64(3, 'UTC'))
        DEFAULT arrayMap(t -> parseDateTime64BestEffortOrZero(t, 3, 'UTC'), tupleElement(holds, 'expires')),
    hold_conflict Array(Bool) DEFAULT tupleElement(holds, 'conflict'),
    hold_open     Array(Bool) DEFAULT tupleElement(holds, 'open'),
    hold_begins   Array(String) DEFAULT tupleElement(holds, 'begins'),
    hold_ends     Array(String) DEFAULT tupleElement(holds, 'ends'),
    body          String EPHEMERAL,
    holds         EPHEMERAL JSONExtract(body, 'holds', 'Array(Tuple(ref String, `from` String, until String,
        expires String, conflict Bool, open Bool, begins String, ends String))')
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, kind, id)
SETTINGS non_replicated_deduplication_window = 10000, merge_selector_base = 12
