-- Grain: one revision of a record of which everything that follows from it has been carried out (see api/record,
-- Store.Then). at is that of the revision. Key: (at, account, kind, id, revision). Written by whoever carried it out,
-- some together, perhaps more than once. Serves: which of the recent revisions have consequences outstanding. A mark
-- that is missing costs a repetition, no more. Retention: a week.
CREATE TABLE IF NOT EXISTS record_settled
(
    account   UInt64,
    kind      LowCardinality(String),
    id        UInt64,
    revision  UInt64,
    at        DateTime64(3, 'UTC'),
    marked_at DateTime DEFAULT now()
)
ENGINE = MergeTree
ORDER BY (at, account, kind, id, revision)
TTL marked_at + INTERVAL 7 DAY
SETTINGS non_replicated_deduplication_window = 10000
