-- Grain: a row that a turn of the retention leaves although it began before the cut. Key: (turn, account, vehicle, id);
-- id is that of derivations, or the number of a checkpoint's day. Written by schemas.Retain before the mutation that
-- reads it: what that deletes must not change what it keeps. Goes after a week; a mutation that comes later deletes
-- nothing.
CREATE TABLE IF NOT EXISTS retention_keeps
(
    turn    UInt64,
    account UInt64,
    vehicle UInt64,
    id      UInt64,
    at      DateTime('UTC') DEFAULT now('UTC')
)
ENGINE = MergeTree
ORDER BY (turn, account, vehicle, id)
TTL at + INTERVAL 7 DAY
SETTINGS non_replicated_deduplication_window = 10000
