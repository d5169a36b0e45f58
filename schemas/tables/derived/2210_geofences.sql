-- Grain: one geofence, its newest revision. Key: (account, id). Filled from record_log, which keeps every
-- revision. Serves: lists with filters, places asked for by contains=, and what query.Policies polls. Read with
-- FINAL. The bounds are degrees; west > east where a shape crosses the antimeridian, north < south where none are
-- known.
CREATE TABLE IF NOT EXISTS geofences
(
    account      UInt64,
    id           UInt64,
    revision     UInt64,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    archived_at  Nullable(DateTime64(3, 'UTC')),
    name         String DEFAULT JSONExtractString(body, 'name'),
    description  String DEFAULT JSONExtractString(body, 'description'),
    shape        LowCardinality(String) DEFAULT lower(JSONExtractString(body, 'geometry', 'type')),
    tags         Array(String) DEFAULT JSONExtract(body, 'scope', 'tags', 'Array(String)'),
    vehicle_ids  Array(String) DEFAULT JSONExtract(body, 'scope', 'vehicle_ids', 'Array(String)'),
    south        Float64 DEFAULT ifNull(JSONExtract(body, 'bounds', 'south', 'Nullable(Float64)'), 90),
    west         Float64 DEFAULT JSONExtractFloat(body, 'bounds', 'west'),
    north        Float64 DEFAULT ifNull(JSONExtract(body, 'bounds', 'north', 'Nullable(Float64)'), -90),
    east         Float64 DEFAULT JSONExtractFloat(body, 'bounds', 'east'),
    external_ids Array(String)
        DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    body         String CODEC(ZSTD(3)),
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512
