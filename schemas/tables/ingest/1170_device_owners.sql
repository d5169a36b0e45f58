-- Grain: one unique id that an operator has said is an account's tracker: the newest word on it. Key: unique_id. kept
-- says whether what was kept apart before the account registered the device is the account's too. While a row stands,
-- no other account can register the unique id, and a device of another account that has it counts for nothing. Serves:
-- the registry that the pipeline reads, and the registration of devices. Read with FINAL. Written by operators only.
CREATE TABLE IF NOT EXISTS device_owners
(
    unique_id String,
    account   UInt64,
    kept      Bool,
    at        DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(at)
ORDER BY unique_id
SETTINGS non_replicated_deduplication_window = 10000
