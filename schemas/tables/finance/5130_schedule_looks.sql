-- Grain: the last look at what a vehicle or a recurring cost asks for by schedule. Key: (account, subject). basis is the
-- fingerprint of what was looked at: as long as it holds and next_at has not come there is nothing to do. Written by the
-- duty that makes expenses by schedule; whoever looked last counts: read with FINAL. Without it everything is looked at
-- once more, and nothing is made twice. Serves: that duty.
CREATE TABLE IF NOT EXISTS schedule_looks
(
    account UInt64,
    subject String,
    at      DateTime64(3, 'UTC'),
    basis   UInt64,
    next_at DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(at)
ORDER BY (account, subject)
SETTINGS non_replicated_deduplication_window = 10000
