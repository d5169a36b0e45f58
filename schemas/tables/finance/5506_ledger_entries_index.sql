-- Parts that were written before the index was there get it too, beside everything else.
ALTER TABLE ledger_entries MATERIALIZE INDEX entered_at_minmax
