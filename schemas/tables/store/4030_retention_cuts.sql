-- Grain: up to where what vehicles said of an account is deleted. Key: (account, done); the row with the highest cut_at
-- wins. The one without done is written before the first row goes, the other when the last is gone. Written by
-- schemas.Retain. Serves: what is due, and from where on a vehicle can be derived again, also after the setting was
-- raised.
CREATE TABLE IF NOT EXISTS retention_cuts
(
    account UInt64,
    done    Bool,
    cut_at  DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(cut_at)
ORDER BY (account, done)
SETTINGS non_replicated_deduplication_window = 10000
