-- The number of the last repair of ledger_taxes in a month, by the month's first day.
SELECT max(repair) FROM ledger_taxes WHERE local_date >= {month:Date32} AND local_date < addMonths({month:Date32}, 1)
