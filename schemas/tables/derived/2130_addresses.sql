-- Grain: the address text of one H3 cell as a configured geocoder gave it. Key: (provider, cell). Serves: the cache of
-- reverse geocoding, so that a cell is asked for once. Kept for 180 days. Holds no account: an address is of a place.
CREATE TABLE IF NOT EXISTS addresses
(
    provider LowCardinality(String),
    cell     UInt64,
    at       DateTime64(3, 'UTC'),
    address  String
)
ENGINE = ReplacingMergeTree(at)
ORDER BY (provider, cell)
TTL toDateTime(at) + INTERVAL 180 DAY
SETTINGS non_replicated_deduplication_window = 1000
