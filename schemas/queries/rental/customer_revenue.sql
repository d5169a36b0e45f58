-- What some of an account's customers have earned it through a day, by customer and currency, in minor units: revenue less discounts and
-- adjustments, which are what stands on some accounts of the books by day of use, so without taxes and without days to come. FINAL, because an entry that was written
-- twice counts once. EXPLAIN indexes=1: by the key, the account's days; with customer_bloom only the granules that may hold them.
SELECT customer, CAST(currency, 'String') AS unit, -sum(amount)
FROM ledger_entries FINAL
WHERE account = {account:UInt64} AND local_date <= {through:Date32} AND customer IN {customers:Array(UInt64)}
    AND ledger_account IN {accounts:Array(String)}
GROUP BY customer, unit
SETTINGS do_not_merge_across_partitions_select_final = 1
