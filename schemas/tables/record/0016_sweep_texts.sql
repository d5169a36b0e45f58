-- Grain: a text that a sweep puts in the place of another, which is named by its hash. Key: (sweep, hash). Written by
-- api/record, and removed with its partition when the mutation that reads it is done: the server keeps the statement of
-- a mutation, so what stands in texts must not stand there. What a process left that died goes after a day. Serves:
-- text_change.
CREATE TABLE IF NOT EXISTS sweep_texts
(
    sweep UInt64,
    hash  UInt64,
    text  String CODEC(ZSTD(3)),
    at    DateTime('UTC') DEFAULT now('UTC')
)
ENGINE = MergeTree
PARTITION BY sweep
ORDER BY (sweep, hash)
TTL at + INTERVAL 1 DAY
SETTINGS non_replicated_deduplication_window = 10000, ttl_only_drop_parts = 1
