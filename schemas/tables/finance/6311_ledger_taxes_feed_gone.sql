-- tax_bases says on what taxes were charged: nobody reads ledger_taxes any more.
DROP VIEW IF EXISTS ledger_taxes_feed
