-- Grain: one backup, by the target that holds it and its name there. The newest row of a name holds; one that is not
-- done was broken off. base: the full backup that it needs, or empty. manifest: JSON, what a restore has to know.
CREATE TABLE IF NOT EXISTS backups
(
    target   String,
    name     String,
    at       DateTime64(3, 'UTC') DEFAULT now64(3),
    base     String,
    done     Bool,
    manifest String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(at)
ORDER BY (target, name)
SETTINGS non_replicated_deduplication_window = 100
