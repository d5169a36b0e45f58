-- Grain: one measurement of a signal of a vehicle, one row per (account, vehicle, signal, time). Serves: a series over
-- a span; feeds the rollups. signal: a name of schemas/signals. Duplicates collapse at merge; read with FINAL.
CREATE TABLE IF NOT EXISTS telemetry
(
    account UInt64 CODEC(Delta, ZSTD(1)),
    vehicle UInt64 CODEC(Delta, ZSTD(1)),
    signal  LowCardinality(String) CODEC(ZSTD(1)),
    time    DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    value   Float64 CODEC(Gorilla, ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(time)
ORDER BY (account, vehicle, signal, time)
SETTINGS non_replicated_deduplication_window = 10000
