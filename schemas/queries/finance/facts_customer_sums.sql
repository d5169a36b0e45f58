-- Makes what the books of an account have of its customers, of those in customers and of all if that is empty, from the month on that begins on
-- since, and writes what differs from what stands; months of before stay as they stand. accounts are those of the ledger that are a measure of
-- facts, and measures which.
-- EXPLAIN indexes=1: ledger_entries by account and local_date, and by customer_bloom; customer_sums by account.
INSERT INTO customer_sums (account, currency, customer, computed_at, months, income)
WITH income_accounts AS (
    SELECT arrayJoin(arrayFilter((a, m) -> m IN ('revenue_time', 'revenue_mileage', 'revenue_extras', 'revenue_protection', 'revenue_fees',
        'revenue_damage', 'discounts', 'refunds', 'platform_fees'), {accounts:Array(String)}, {measures:Array(String)}))
)
SELECT {account:UInt64}, f.unit, f.customer, fromUnixTimestamp64Milli(greatest(toUnixTimestamp64Milli(now64(3)), s.made_at + 1), 'UTC'),
    arrayConcat(s.before.months, f.by_month.months) AS all_months, arrayConcat(s.before.income, f.by_month.income) AS all_income
FROM
(
    SELECT unit, customer, CAST(arraySort(groupArray((month, net))), 'Array(Tuple(months Date32, income Int64))') AS by_month
    FROM
    (
        SELECT toString(currency) AS unit, customer, addDays(local_date, 1 - toDayOfMonth(local_date)) AS month, -sum(amount) AS net
        FROM ledger_entries FINAL
        PREWHERE account = {account:UInt64} AND local_date >= {since:Date32} AND customer != 0 AND (empty({customers:Array(UInt64)}) OR customer IN {customers:Array(UInt64)})
        WHERE ledger_account IN income_accounts
        GROUP BY unit, customer, month
    )
    GROUP BY unit, customer
) AS f
LEFT JOIN
(
    SELECT toString(currency) AS unit, customer, toUnixTimestamp64Milli(computed_at) AS made_at, cityHash64(months, income) AS was,
        CAST(arrayFilter(m -> m.1 < {since:Date32}, arrayZip(months, income)), 'Array(Tuple(months Date32, income Int64))') AS before
    FROM customer_sums FINAL
    WHERE account = {account:UInt64} AND (empty({customers:Array(UInt64)}) OR customer IN {customers:Array(UInt64)})
) AS s ON s.unit = f.unit AND s.customer = f.customer
WHERE s.was != cityHash64(all_months, all_income)
SETTINGS do_not_merge_across_partitions_select_final = 1
