-- Balances are summed from ledger_entries itself. A server that died between an insert of entries and what this view made of it left sums
-- that stayed wrong, as whoever looked after the postings saw the entries and was content.
DROP VIEW IF EXISTS ledger_daily_feed
