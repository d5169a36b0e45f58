-- Grain: one event. Key: (account, sequence); the sequence is the event's place on the topic of events, plus one, so a
-- reader that has seen n has seen all up to n. Written by pipeline/eventlog with tokens of the offsets. Kept for 30
-- days of our clock. Serves: the pull log, resuming a stream. body: the object as fleet.Event has it.
CREATE TABLE IF NOT EXISTS events
(
    account   UInt64,
    sequence  UInt64,
    id        UInt64,
    type      LowCardinality(String),
    vehicle   UInt64,
    at        DateTime64(3, 'UTC'),
    noted_at  DateTime64(3, 'UTC'),
    late      Bool,
    kind      LowCardinality(String),
    object    UInt64,
    revision  UInt32,
    body      String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree
ORDER BY (account, sequence)
TTL toDateTime(noted_at) + INTERVAL 30 DAY
SETTINGS non_replicated_deduplication_window = 10000
