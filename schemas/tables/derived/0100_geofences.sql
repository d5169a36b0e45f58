-- Grain: one geofence, its newest revision. Key: (account, id). Fed by geofences_feed from record_log, which keeps every
-- version. Serves: lists with filters, places asked for by contains=, and what query.Policies polls. Read with FINAL. The
-- bounds are degrees; west > east where a shape crosses the antimeridian, north < south where none are known.
CREATE TABLE IF NOT EXISTS geofences
(
    account      UInt64,
    id           UInt64,
    revision     UInt64,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    archived_at  Nullable(DateTime64(3, 'UTC')),
    name         String,
    description  String,
    shape        LowCardinality(String),
    tags         Array(String),
    vehicle_ids  Array(String),
    south        Float64,
    west         Float64,
    north        Float64,
    east         Float64,
    external_ids Array(String),
    body         String CODEC(ZSTD(3)),
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
