-- When an entry was written, by the clock of who wrote it; 1970 of those before. Facts of its day are made again then.
ALTER TABLE ledger_entries
    ADD COLUMN IF NOT EXISTS entered_at DateTime64(3, 'UTC') DEFAULT toDateTime64(0, 3, 'UTC'),
    ADD INDEX IF NOT EXISTS entered_at_minmax entered_at TYPE minmax GRANULARITY 1
