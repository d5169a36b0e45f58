-- Grain: the span of a vehicle that must be derived again because older fixes came in; null from_at when that is done.
-- Key: (account, vehicle); the row with the highest version wins. Written by pipeline/follow before the offset of what
-- brought the fixes. Serves: start of a partition's owner.
CREATE TABLE IF NOT EXISTS dirty_spans
(
    account UInt64,
    vehicle UInt64,
    version UInt64,
    from_at Nullable(DateTime64(3, 'UTC')),
    jobs    Array(UInt64)
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (account, vehicle)
SETTINGS non_replicated_deduplication_window = 10000
