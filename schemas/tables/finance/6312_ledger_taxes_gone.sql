-- Nothing feeds it any more (6311), and all of it is in ledger_entries.
DROP TABLE IF EXISTS ledger_taxes
