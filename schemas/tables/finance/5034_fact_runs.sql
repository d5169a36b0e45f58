-- Grain: one thing that was done to make facts. Of account 0: all was made again that had been written until
-- records_until by the clock of records and until entries_until by that of entries, trips and charges. Of any other: the
-- facts of the account were made from nothing for a month, and local_date is its first day. version: of the program's
-- definitions; what was made by others has to be made again. Key: (version, account, local_date, made_at). A note that is
-- missing costs a repetition. Serves: what has to be made next. Looks go after a month.
CREATE TABLE IF NOT EXISTS fact_runs
(
    version       UInt32,
    account       UInt64,
    local_date    Date32,
    made_at       DateTime64(3, 'UTC'),
    records_until DateTime64(3, 'UTC'),
    entries_until DateTime64(3, 'UTC'),
    vehicles      UInt32,
    took_ms       UInt32
)
ENGINE = MergeTree
ORDER BY (version, account, local_date, made_at)
TTL toDateTime(made_at) + INTERVAL 31 DAY DELETE WHERE account = 0
SETTINGS non_replicated_deduplication_window = 10000
