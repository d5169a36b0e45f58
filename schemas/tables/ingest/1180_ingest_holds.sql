-- Grain: one request that the pipeline hold still, while a backup looks at which moment it is of. It ends by itself
-- when whoever asked is gone. The newest row of an id holds.
CREATE TABLE IF NOT EXISTS ingest_holds
(
    id    String,
    at    DateTime64(3, 'UTC') DEFAULT now64(3),
    until DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(at)
ORDER BY id
TTL toDateTime(until) + INTERVAL 1 DAY
SETTINGS non_replicated_deduplication_window = 100
