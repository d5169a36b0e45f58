-- Grain: one position of a vehicle, one row per (account, vehicle, fix_time). Serves: a vehicle's track over a span.
-- Duplicates are refused before the insert; a replayed insert carries its token; what is left (two devices on one
-- vehicle in the same millisecond) collapses at merge, so read with FINAL. Partitioned by month of the fix, so that what
-- a retention deletes lies apart from what stays. Nothing is deleted by default.
-- Values are scaled integers because they compress two to three times better than floats; the ALIAS columns give the
-- plain units. flags: bits in the order of fleet.FlagNames. source_*: where in Kafka the row came from.
CREATE TABLE IF NOT EXISTS positions
(
    account          UInt64 CODEC(Delta, ZSTD(1)),
    vehicle          UInt64 CODEC(Delta, ZSTD(1)),
    fix_time         DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    device           UInt64 CODEC(Delta, ZSTD(1)),
    device_time      DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    received_at      DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    lat7             Int32 CODEC(Delta, ZSTD(1)),
    lng7             Int32 CODEC(Delta, ZSTD(1)),
    altitude_dm      Nullable(Int32) CODEC(Delta, ZSTD(1)),
    speed_cms        Nullable(UInt16) CODEC(Delta, ZSTD(1)),
    course_cdeg      Nullable(UInt16) CODEC(Delta, ZSTD(1)),
    accuracy_dm      Nullable(UInt32) CODEC(ZSTD(1)),
    odometer_m       Nullable(UInt32) CODEC(Delta, ZSTD(1)),
    satellites       Nullable(UInt8) CODEC(ZSTD(1)),
    ignition         Enum8('unknown' = 0, 'off' = 1, 'on' = 2) CODEC(ZSTD(1)),
    motion           Enum8('unknown' = 0, 'still' = 1, 'moving' = 2) CODEC(ZSTD(1)),
    alarm            String CODEC(ZSTD(1)),
    cell             UInt64 CODEC(Delta, ZSTD(1)),
    flags            UInt32 CODEC(ZSTD(1)),
    source_topic     String CODEC(ZSTD(1)),
    source_partition UInt16 CODEC(ZSTD(1)),
    source_offset    UInt64 CODEC(Delta, ZSTD(1)),
    lat              Float64 ALIAS lat7 / 1e7,
    lng              Float64 ALIAS lng7 / 1e7,
    altitude_m       Nullable(Float64) ALIAS altitude_dm / 10,
    speed_mps        Nullable(Float64) ALIAS speed_cms / 100,
    course_deg       Nullable(Float64) ALIAS course_cdeg / 100,
    accuracy_m       Nullable(Float64) ALIAS accuracy_dm / 10
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(fix_time)
ORDER BY (account, vehicle, fix_time)
SETTINGS non_replicated_deduplication_window = 10000
