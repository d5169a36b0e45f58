-- Grain: what pipeline/follow knew of a vehicle at the last checkpoint of a UTC day of event time. Key: (account,
-- vehicle, day); the row with the highest at wins. Deriving begins at the newest checkpoint that lies before what
-- changed. state: gob of the detectors' states; format: its version, another is not read. wake_at: when silence would
-- mean something. dropped: a repair made it worthless. Serves: start of a partition's owner, repair.
CREATE TABLE IF NOT EXISTS checkpoints
(
    account    UInt64,
    vehicle    UInt64,
    day        Date,
    version    UInt64,
    at         DateTime64(3, 'UTC'),
    wake_at    Nullable(DateTime64(3, 'UTC')),
    format     UInt32,
    dropped    Bool,
    state      String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (account, vehicle, day)
SETTINGS non_replicated_deduplication_window = 10000
