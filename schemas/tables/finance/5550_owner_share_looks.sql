-- Grain: the last look at what a month of the books brought the owner of a vehicle; the month 1970-01-01 says that the
-- vehicle has been somebody's. Key: (account, vehicle, month). basis is the fingerprint of what was looked at: as long as
-- it holds there is nothing to do. Written by the duty that brings owners' shares into the books; whoever looked last
-- counts: read with FINAL. Without it everything is looked at once more, and nothing is posted twice; but a vehicle that
-- is nobody's now is looked at no more. Serves: that duty.
CREATE TABLE IF NOT EXISTS owner_share_looks
(
    account UInt64,
    vehicle UInt64,
    month   Date32,
    at      DateTime64(3, 'UTC'),
    basis   UInt64
)
ENGINE = ReplacingMergeTree(at)
ORDER BY (account, vehicle, month)
SETTINGS non_replicated_deduplication_window = 10000
