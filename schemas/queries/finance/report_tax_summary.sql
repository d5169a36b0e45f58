-- report: Taxes
-- about: What was charged of each tax and on which net amounts, by the day of the books on which it was billed, what of it went to the
--   authority, and the input tax of what was bought. Taxes are those of the location at which the rental began, by their names.
-- bases: accrual
-- groups: category jurisdiction location channel total day week month quarter year
-- places: booking
-- figure charged money: Taxes on bills, by their names (category), or by location and name (jurisdiction).
-- figure taken_back money: What of taxes on bills was taken back, by reversals and later changes.
-- figure tax money: Charged less taken_back.
-- figure taxable money: The net amounts on which this tax was charged, less those of which it was taken back, as the charges of the
--   bookings have them, on the days of the tax's entries. An amount on which several taxes are charged counts once for each: the
--   turnover of a tax is that of its name.
-- figure known_tax money: Of the tax, that of which the net amount is known; of taxes of imported bookings nobody knows it.
-- figure paid money: What went to the authority: expenses of the category sales_tax, and what journal entries by hand took off; what
--   these added, such as what was owed when the books began, is taken from it.
-- figure owed money [ledger minus tax_payable]: What the span adds to what is owed to the authority: charged less taken_back and paid.
-- figure input_tax money [ledger tax_receivable]: What the span adds to the tax that the authority gives back: the recoverable tax of
--   expenses. It has no name, and is of no category.
-- figure balance money [ledger minus tax_payable, tax_receivable]: What the span adds to what is left to pay: owed less input_tax.
-- figure entries count: How many entries of the ledger what is owed was.
-- ratio rate percent = known_tax / taxable: The rate: of one tax its own but for the rounding of each bill, of several, or of one whose
--   rate changed, on average.
-- A tax on a bill says its name in the purpose of its entry ("tax, State tax"); what is paid has none, and is of no category. On what the
-- taxes of a booking were charged is a fact (tax_bases), made of its charges: so tax is to the minor unit that of the ledger, and what is
-- taxable, with the tax that is known, comes a moment later.
-- EXPLAIN indexes=1: ledger_flows by account, ledger_account and local_date; tax_bases by account, and by local_date_minmax.
SELECT multiIf({group:String} = 'total', '', {group:String} = 'category', e.name,
        {group:String} = 'jurisdiction', trimLeft(concat(if(e.location = 0, '', concat('loc_', toString(e.location))), ' ', e.name)),
        {group:String} = 'location', if(e.location = 0, '', toString(e.location)), {group:String} = 'channel', e.channel, toString(toDate32(dateTrunc(
            if({group:String} IN ('week', 'month', 'quarter', 'year'), {group:String}, 'day'), e.day)))) AS key,
    sum(e.charged) AS charged, sum(e.back) AS taken_back, charged - taken_back AS tax, sum(e.base) AS taxable, sum(e.known) AS known_tax,
    sum(e.settled) AS paid, tax - paid AS owed, sum(e.input) AS input_tax, owed - input_tax AS balance, sum(e.n) AS entries
FROM (
    SELECT local_date AS day, if(startsWith(purpose, 'tax, '), substring(purpose, 6), if(kind = 'journal_entry', '', CAST(purpose, 'String'))) AS name, location,
        CAST(channel, 'String') AS channel, ledger_account = 'tax_payable' AND kind NOT IN ('expense', 'journal_entry') AS billed,
        if(billed, debits - f.amount, 0) AS charged, if(billed, debits, 0) AS back,
        if(ledger_account = 'tax_payable' AND NOT billed, f.amount, 0) AS settled,
        if(ledger_account = 'tax_receivable', f.amount, 0) AS input, if(ledger_account = 'tax_payable', f.entries, 0) AS n, 0 AS base, 0 AS known
    FROM ledger_flows AS f
    WHERE account = {account:UInt64} AND local_date BETWEEN {from:Date32} AND {to:Date32} AND currency = {currency:String}
        AND ledger_account IN ('tax_payable', 'tax_receivable')
    UNION ALL
    SELECT local_date, name, location, CAST(channel, 'String'), false, 0, 0, 0, 0, 0, base, known
    FROM tax_bases FINAL
    WHERE account = {account:UInt64} AND local_date BETWEEN {from:Date32} AND {to:Date32} AND currency = {currency:String}
) AS e
WHERE (empty({locations:Array(UInt64)}) OR e.location IN {locations:Array(UInt64)})
    AND (empty({channels:Array(String)}) OR has({channels:Array(String)}, e.channel))
GROUP BY key
HAVING charged != 0 OR taken_back != 0 OR paid != 0 OR input_tax != 0 OR taxable != 0 OR entries != 0
SETTINGS do_not_merge_across_partitions_select_final = 1
