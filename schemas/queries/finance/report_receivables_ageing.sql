-- report: Receivables ageing
-- about: Who owes what at the end of the last day of the span, by how many days ago it was billed. What was paid counts against
--   what was billed first, also on the day of another bill. It equals the ledger's accounts of receivables, of customers
--   and of channels. By channel what a booking owes by one channel is aged apart from what was paid by another, so that
--   rows do not add up.
-- bases: accrual
-- groups: booking customer channel total
-- apart: channel
-- figure balance money [ledger standing accounts_receivable, platform_receivable]: What is owed; negative where too much was paid.
-- figure from_customers money [ledger standing accounts_receivable]: Of this, by customers.
-- figure from_channels money [ledger standing platform_receivable]: Of this, by channels that collect for the fleet.
-- figure not_due money: Billed on the last day itself.
-- figure days_1_30 money: Billed 1 to 30 days before.
-- figure days_31_60 money: Billed 31 to 60 days before.
-- figure days_61_90 money: Billed 61 to 90 days before.
-- figure days_over_90 money: Billed more than 90 days before.
-- figure overpaid money: What was paid above what was billed; negative.
-- The parts sum to the balance. Each booking, and of what is of none each customer and channel, is aged by itself; by channel each
-- channel of a booking, as a deposit that was kept is of none. Rows that are settled are left out. As what was paid counts against what was billed first, what is left is of the newest bills: those of the last
-- 90 days are looked at one by one, and the rest of what is owed is older. A bill is what one record (the lines of a booking, a payment that
-- is given back) adds on a day: its own corrections of that day are in it, and what others take off is paid. whose tells apart what a booking owes by several customers
-- or on several accounts, and what is of no booking; where no channel is in it no text is hashed, which is most of the time. EXPLAIN indexes=1: ledger_flows by account, ledger_account and local_date, and again for the last 90 days.
WITH {group:String} = 'channel' OR notEmpty({channels:Array(String)}) AS by_channel,
    arrayMap(b -> b.1, lately.bills) AS ages, arrayMap(b -> b.2, lately.bills) AS billed,
    arrayMap((part, so_far) -> greatest(least(part, owing.owed - so_far + part), 0), billed, arrayCumSum(billed)) AS lefts
SELECT if({group:String} = 'total', '', if({group:String} = 'channel', CAST(owing.way, 'String'),
        toString(if({group:String} = 'customer', owing.one, owing.booking)))) AS key,
    sum(owing.owed) AS balance, sumIf(owing.owed, NOT owing.platform) AS from_customers,
    sumIf(owing.owed, owing.platform) AS from_channels,
    sum(arraySum((left, age) -> if(age = 0, left, 0), lefts, ages)) AS not_due,
    sum(arraySum((left, age) -> if(age BETWEEN 1 AND 30, left, 0), lefts, ages)) AS days_1_30,
    sum(arraySum((left, age) -> if(age BETWEEN 31 AND 60, left, 0), lefts, ages)) AS days_31_60,
    sum(arraySum((left, age) -> if(age > 60, left, 0), lefts, ages)) AS days_61_90,
    sum(greatest(owing.owed, 0)) - sum(arraySum(lefts)) AS days_over_90,
    sum(least(owing.owed, 0)) AS overpaid
FROM (
    SELECT booking, if(booking = 0 OR by_channel, cityHash64(customer, channel, ledger_account), customer * 2 + (ledger_account = 'platform_receivable')) AS whose,
        any(customer) AS one, any(if(by_channel, channel, '')) AS way, any(ledger_account = 'platform_receivable') AS platform, sum(amount) AS owed
    FROM ledger_flows
    WHERE account = {account:UInt64} AND local_date <= {to:Date32} AND currency = {currency:String}
        AND ledger_account IN ('accounts_receivable', 'platform_receivable')
        AND (empty({customers:Array(UInt64)}) OR customer IN {customers:Array(UInt64)})
        AND (empty({channels:Array(String)}) OR channel IN {channels:Array(String)})
    GROUP BY booking, whose
    HAVING owed != 0
) AS owing
LEFT JOIN (
    SELECT booking, whose, arraySort(groupArray((age, billed))) AS bills
    FROM (
        SELECT booking, if(booking = 0 OR by_channel, cityHash64(customer, channel, ledger_account), customer * 2 + (ledger_account = 'platform_receivable')) AS whose,
            dateDiff('day', local_date, {to:Date32}) AS age, sum(amount) AS billed
        FROM ledger_flows
        WHERE account = {account:UInt64} AND local_date BETWEEN {to:Date32} - 90 AND {to:Date32} AND currency = {currency:String}
            AND ledger_account IN ('accounts_receivable', 'platform_receivable')
        GROUP BY booking, whose, age, kind, source, purpose = 'deposit'
        HAVING billed > 0
    )
    GROUP BY booking, whose
) AS lately ON lately.booking = owing.booking AND lately.whose = owing.whose
GROUP BY key
HAVING balance != 0 OR from_customers != 0 OR overpaid != 0
