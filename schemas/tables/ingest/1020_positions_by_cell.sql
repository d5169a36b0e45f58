-- Grain: one position of a vehicle, as in positions, in the order of places: who was here, when. Fed by
-- positions_by_cell_feed with what a search needs and no more. Serves: the fixes of an account in a set of cells over a
-- span. cell: H3 of resolution 9; the cells below a coarser one are neighbours in this order. Granules are small,
-- because a search reads one or two for each cell, and every column of them: parts are compact, in which the columns of
-- a granule lie together, so that they are read at once and unpacked without their neighbours (docs/decisions,
-- "Parts by place are compact"). Duplicates collapse at merge as in positions; a reader that cannot bear those left
-- over takes one of (vehicle, fix_time). Partitioned like positions, for retention.
CREATE TABLE IF NOT EXISTS positions_by_cell
(
    account  UInt64 CODEC(Delta, ZSTD(1)),
    cell     UInt64 CODEC(Delta, ZSTD(1)),
    fix_time DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    vehicle  UInt64 CODEC(ZSTD(1)),
    lat7     Int32 CODEC(T64, ZSTD(1)),
    lng7     Int32 CODEC(T64, ZSTD(1)),
    flags    UInt32 CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(fix_time)
ORDER BY (account, cell, fix_time, vehicle)
SETTINGS index_granularity = 2048, non_replicated_deduplication_window = 10000, min_bytes_for_wide_part = 1099511627776
