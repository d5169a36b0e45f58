-- The charging sessions of one vehicle are read in granules of 256 rows: a page is 20 of a thousand, and of granules of 8,192 each part gave one.
-- What stands is taken over as it is, and the table is the new one at once; a granule gets small when its part is merged.
-- A month that nothing came into for a day is merged to one part, which is read without merging, and counted by its key.
CREATE OR REPLACE TABLE charges CLONE AS charges
ENGINE = ReplacingMergeTree(revision)
PARTITION BY toYYYYMM(start_at)
ORDER BY (account, vehicle, start_at, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 256,
    min_age_to_force_merge_seconds = 86400, min_age_to_force_merge_on_partition_only = 1,
    enable_max_bytes_limit_for_min_age_to_force_merge = 1
