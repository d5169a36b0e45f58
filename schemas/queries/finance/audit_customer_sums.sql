-- Audit: what customers brought in, in customer_sums, against the entries of the ledger, by currency. accounts are those of the ledger that are
-- a measure of facts, and measures which. Customers who have entries of records since {until} are left out, and everything until all
-- facts are made by this version of the program, if it ever looked. EXPLAIN indexes=1: everything is read, sums in the order of their keys.
WITH (SELECT count() = 0 OR countIf(account = 0 AND version = {version:UInt32}) > 0 FROM fact_runs) AS complete
SELECT e.account AS account, 'income of customers' AS what, concat('cus_', toString(e.customer), ' ', e.unit) AS key, 'customer' AS kind, e.customer AS id, e.day AS day,
    e.earned AS expected, s.sum AS found
FROM
(
    SELECT account, customer, toString(currency) AS unit, -sum(amount) AS earned, toString(max(local_date)) AS day
    FROM ledger_entries FINAL
    WHERE customer != 0 AND complete AND account IN (SELECT DISTINCT account FROM vehicle_days) AND transform(toString(ledger_account), {accounts:Array(String)}, {measures:Array(String)}, '') IN ('revenue_time',
        'revenue_mileage', 'revenue_extras', 'revenue_protection', 'revenue_fees', 'revenue_damage', 'discounts', 'refunds', 'platform_fees')
    GROUP BY account, customer, unit
    HAVING max(occurred_at) < fromUnixTimestamp64Milli({until:Int64}, 'UTC')
) AS e
LEFT JOIN (SELECT account, customer, toString(currency) AS unit, arraySum(income) AS sum FROM customer_sums FINAL) AS s
    ON s.account = e.account AND s.customer = e.customer AND s.unit = e.unit
WHERE expected != found
ORDER BY account, key
LIMIT {limit:UInt32} BY account
SETTINGS do_not_merge_across_partitions_select_final = 1
