-- Grain: one file of the embedded broker's log, on its way into a backup or out of one; empty otherwise. Key: (name,
-- path). Each backup has a partition of its own, which it drops.
CREATE TABLE IF NOT EXISTS backup_files
(
    name String,
    path String,
    data String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree
PARTITION BY name
ORDER BY (name, path)
SETTINGS non_replicated_deduplication_window = 100
