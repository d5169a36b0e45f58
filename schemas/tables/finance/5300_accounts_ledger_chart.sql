-- The numbers and names that an account gave to accounts of its ledger, by their codes; what is empty is as usual.
-- Serves: the chart of accounts that analysts read.
ALTER TABLE accounts ADD COLUMN IF NOT EXISTS ledger_chart Map(String, Tuple(number String, name String))
    DEFAULT JSONExtract(body, 'ledger_chart', 'Map(String, Tuple(number String, name String))')
