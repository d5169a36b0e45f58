-- What an entry is for, in words, where its account and the record do not say: a line of a bill, a tax by its name, a deposit, a refund.
ALTER TABLE ledger_entries
    ADD COLUMN IF NOT EXISTS purpose LowCardinality(String) AFTER channel
