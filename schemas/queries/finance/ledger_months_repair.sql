-- The number of the last repair of ledger_months in a month, by the month's first day.
SELECT max(repair) FROM ledger_months WHERE month = {month:Date32}
