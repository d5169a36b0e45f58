-- Grain: one thing derived of one vehicle (trip, stop, charge, visit, driving_event, alert, route_run), its newest
-- revision. Key: (account, vehicle, kind, id); the id comes from the content, so deriving again writes the same row.
-- Written only by pipeline/follow. Serves: what is there already when a span is derived again: rows that were
-- recognised after a checkpoint, and those still open. A view feeds a typed table for each kind. deleted: a repair
-- showed that it does not hold. late: recorded long after it happened. digest: of body and times, to see whether
-- anything changed.
CREATE TABLE IF NOT EXISTS derivations
(
    account       UInt64 CODEC(Delta, ZSTD(1)),
    vehicle       UInt64 CODEC(Delta, ZSTD(1)),
    kind          LowCardinality(String),
    id            UInt64,
    revision      UInt32,
    recognised_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    start_at      DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    end_at        DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    local_date    Date,
    open          Bool,
    deleted       Bool,
    late          Bool,
    digest        UInt64,
    written_at    DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    body          String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, vehicle, kind, id)
SETTINGS non_replicated_deduplication_window = 10000
