-- Grain: one statement of a tracker of who is logged in: the tag of a key, card or Bluetooth device, or 0 for nobody.
-- One row per (account, vehicle, time, tag). Serves: who drove a vehicle during a span; the vehicles of a tag; tags
-- that nobody holds. Whose a tag is stands in driver_tags and is looked up when something is read. Duplicates collapse
-- at merge.
CREATE TABLE IF NOT EXISTS tag_reports
(
    account UInt64 CODEC(Delta, ZSTD(1)),
    vehicle UInt64 CODEC(Delta, ZSTD(1)),
    time    DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    tag     LowCardinality(String) CODEC(ZSTD(1)),
    INDEX tag_set tag TYPE set(64) GRANULARITY 1
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(time)
ORDER BY (account, vehicle, time, tag)
SETTINGS non_replicated_deduplication_window = 10000
