-- report: Taxes
-- about: What was charged of each tax, by the day of the books on which it was billed, and what of it went to the authority. Taxes
--   are those of the location at which the rental began, by their names.
-- bases: accrual
-- groups: category location channel total day week month quarter year
-- places: booking
-- figure charged money: Taxes on bills, by their names (category).
-- figure taken_back money: What of taxes on bills was taken back, by reversals and later changes.
-- figure paid money: What went to the authority: expenses of the category sales_tax, and what journal entries by hand took off; what
--   these added, such as what was owed when the books began, is taken from it.
-- figure owed money [ledger minus tax_payable]: What the span adds to what is owed to the authority: charged less taken_back and paid.
-- figure entries count: How many entries of the ledger that were.
-- A tax on a bill says its name in the purpose of its entry ("tax, State tax"); what is paid has none, and is of no category. EXPLAIN
-- indexes=1: ledger_flows by account, ledger_account and local_date.
SELECT multiIf({group:String} = 'total', '', {group:String} = 'category', if(startsWith(e.purpose, 'tax, '), substring(e.purpose, 6), e.purpose),
        {group:String} = 'location', if(e.location = 0, '', toString(e.location)), {group:String} = 'channel', CAST(e.channel, 'String'), toString(toDate32(dateTrunc(
            if({group:String} IN ('week', 'month', 'quarter', 'year'), {group:String}, 'day'), e.local_date)))) AS key,
    sumIf(e.debits - e.amount, e.kind NOT IN ('expense', 'journal_entry')) AS charged, sumIf(e.debits, e.kind NOT IN ('expense', 'journal_entry')) AS taken_back,
    sumIf(e.amount, e.kind IN ('expense', 'journal_entry')) AS paid, -sum(e.amount) AS owed, sum(e.entries) AS entries
FROM ledger_flows AS e
WHERE e.account = {account:UInt64} AND e.local_date BETWEEN {from:Date32} AND {to:Date32} AND e.currency = {currency:String}
    AND e.ledger_account = 'tax_payable' AND (empty({locations:Array(UInt64)}) OR e.location IN {locations:Array(UInt64)})
    AND (empty({channels:Array(String)}) OR has({channels:Array(String)}, CAST(e.channel, 'String')))
GROUP BY key
HAVING charged != 0 OR taken_back != 0 OR paid != 0
