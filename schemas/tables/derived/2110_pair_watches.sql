-- Grain: one pair of vehicles that a version of a rule of the kind proximity is about, from an instant on. Key:
-- (account, rule, rule_revision, vehicle, other, from_ms); vehicle has the lower id. until_ms: when the pair ceased to
-- be the rule's; 0 until further notice. Written by pipeline/follow. Serves: which pairs a change of a vehicle is
-- about, also one that comes after the rule has ended.
CREATE TABLE IF NOT EXISTS pair_watches
(
    account       UInt64,
    rule          UInt64,
    rule_revision UInt64,
    vehicle       UInt64,
    other         UInt64,
    from_ms       Int64,
    until_ms      Int64
)
ENGINE = ReplacingMergeTree(until_ms)
ORDER BY (account, rule, rule_revision, vehicle, other, from_ms)
SETTINGS non_replicated_deduplication_window = 10000
