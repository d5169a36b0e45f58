-- report: Receivables ageing
-- about: Who owes what at the end of the last day of the span, by how many days ago it was billed. What was paid counts against
--   what was billed first. It equals the ledger's accounts of receivables, of customers and of channels.
-- bases: accrual
-- groups: booking customer channel total
-- figure balance money [ledger standing accounts_receivable, platform_receivable]: What is owed; negative where too much was paid.
-- figure from_customers money [ledger standing accounts_receivable]: Of this, by customers.
-- figure from_channels money [ledger standing platform_receivable]: Of this, by channels that collect for the fleet.
-- figure not_due money: Billed on the last day itself.
-- figure days_1_30 money: Billed 1 to 30 days before.
-- figure days_31_60 money: Billed 31 to 60 days before.
-- figure days_61_90 money: Billed 61 to 90 days before.
-- figure days_over_90 money: Billed more than 90 days before.
-- figure overpaid money: What was paid above what was billed; negative.
-- The parts sum to the balance. Each booking, and of what is of none each customer and channel, is aged by itself. Rows that
-- are settled are left out. Nearly all bookings are: which ones are not is found first, by sums alone, and only these are aged. A booking
-- is settled if it comes to nothing and all of it is of one customer, channel and account. EXPLAIN indexes=1: ledger_flows by account,
-- ledger_account and local_date, twice.
SELECT if({group:String} = 'total', '', if({group:String} = 'channel', channel, toString(if({group:String} = 'customer', customer, booking)))) AS key,
    sum(owed) AS balance, sumIf(owed, ledger_account = 'accounts_receivable') AS from_customers,
    sumIf(owed, ledger_account = 'platform_receivable') AS from_channels,
    sum(arraySum((left, age) -> if(age <= 0, left, 0), lefts, ages)) AS not_due,
    sum(arraySum((left, age) -> if(age BETWEEN 1 AND 30, left, 0), lefts, ages)) AS days_1_30,
    sum(arraySum((left, age) -> if(age BETWEEN 31 AND 60, left, 0), lefts, ages)) AS days_31_60,
    sum(arraySum((left, age) -> if(age BETWEEN 61 AND 90, left, 0), lefts, ages)) AS days_61_90,
    sum(arraySum((left, age) -> if(age > 90, left, 0), lefts, ages)) AS days_over_90,
    sum(least(owed, 0)) AS overpaid
FROM (
    WITH arraySort(groupArrayIf((local_date, amount), amount > 0)) AS debits, toInt64(-sumIf(amount, amount < 0)) AS credits,
        arrayMap(d -> d.2, debits) AS billed, arrayCumSum(billed) AS sums
    SELECT booking, customer, CAST(channel, 'String') AS channel, CAST(ledger_account, 'String') AS ledger_account, toInt64(sum(amount)) AS owed,
        arrayMap((part, so_far) -> least(part, greatest(so_far - credits, 0)), billed, sums) AS lefts,
        arrayMap(d -> dateDiff('day', d.1, {to:Date32}), debits) AS ages
    FROM (
        SELECT local_date, booking, customer, channel, ledger_account, sum(amount) AS amount
        FROM ledger_flows
        WHERE account = {account:UInt64} AND local_date <= {to:Date32} AND currency = {currency:String}
            AND ledger_account IN ('accounts_receivable', 'platform_receivable')
            AND (empty({customers:Array(UInt64)}) OR customer IN {customers:Array(UInt64)})
            AND (empty({channels:Array(String)}) OR channel IN {channels:Array(String)})
            AND booking IN (
                SELECT booking
                FROM (
                    SELECT booking, amount, cityHash64(customer, channel, ledger_account) AS whose
                    FROM ledger_flows
                    WHERE account = {account:UInt64} AND local_date <= {to:Date32} AND currency = {currency:String}
                        AND ledger_account IN ('accounts_receivable', 'platform_receivable')
                )
                GROUP BY booking
                HAVING sum(amount) != 0 OR min(whose) != max(whose)
            )
        GROUP BY local_date, booking, customer, channel, ledger_account
    )
    GROUP BY booking, customer, channel, ledger_account
)
GROUP BY key
HAVING balance != 0 OR from_customers != 0 OR overpaid != 0
