-- Grain: one note that the fixes of a vehicle in pair_watches are others from from_ms on. Key: (account, vehicle,
-- number). Written by pipeline/follow before the offset of what brought the fixes, and again with done when its pairs
-- were looked at. again_at: until then they are looked at anew each time. Goes a day after it is done; one that comes
-- back because its note went first is looked at once more. Serves: what must be looked at, whoever died.
CREATE TABLE IF NOT EXISTS pair_marks
(
    account  UInt64,
    vehicle  UInt64,
    number   UInt64,
    from_ms  Int64,
    again_at Int64,
    done     Bool,
    at       DateTime('UTC') DEFAULT now('UTC')
)
ENGINE = ReplacingMergeTree(done)
ORDER BY (account, vehicle, number)
TTL at + INTERVAL 1 DAY WHERE done
SETTINGS non_replicated_deduplication_window = 10000
