-- Which months of the books of vehicles, of one account or for 0 of all, must be looked at for what their owners get: those
-- of vehicles that are or were somebody's of which entries, or whose owner, share, the costs that owners bear or the time
-- zone are not what was looked at last. basis is the fingerprint of these; entries are known by the sums of ledger_months,
-- which are put right by themselves. Of vehicles, accounts and entries those count that were written since an instant each,
-- for 0 all. owner_shares_known has noted each vehicle with the month 1970-01-01, which is looked at by itself. What was
-- looked at longest ago comes first. EXPLAIN indexes=1: ledger_entries by entered_at_minmax, ledger_months by account and
-- ledger_account; of vehicles and accounts what is read of all is updated_at. Of one account every table is read by it.
WITH changed AS (
    SELECT account, id AS vehicle FROM vehicles FINAL
    WHERE ({account:UInt64} = 0 OR account = {account:UInt64})
        AND (updated_at >= fromUnixTimestamp64Milli({records:Int64}, 'UTC') OR account IN (
            SELECT account FROM accounts FINAL
            WHERE ({account:UInt64} = 0 OR account = {account:UInt64}) AND updated_at >= fromUnixTimestamp64Milli({records:Int64}, 'UTC')))
    UNION DISTINCT
    SELECT DISTINCT account, vehicle FROM ledger_entries
    WHERE ({account:UInt64} = 0 OR account = {account:UInt64}) AND {entries:Int64} != 0 AND entered_at >= fromUnixTimestamp64Milli({entries:Int64}, 'UTC') AND vehicle != 0
), owned AS (
    SELECT account, id AS vehicle, cityHash64(owner_customer_id, JSONExtractRaw(body, 'owner_share_bp')) AS terms
    FROM vehicles FINAL
    WHERE ({account:UInt64} = 0 OR account = {account:UInt64}) AND (account, id) IN (
            SELECT account, vehicle FROM owner_share_looks WHERE ({account:UInt64} = 0 OR account = {account:UInt64}))
        AND ({records:Int64} = 0 OR (account, id) IN changed)
)
SELECT m.account AS account, m.vehicle AS vehicle, m.month AS month,
    cityHash64(o.terms, a.terms, m.total, m.counted, m.ids) AS basis
FROM (
    SELECT account, vehicle, month, sum(amount) AS total, sum(entries) AS counted, sum(checksum) AS ids
    FROM ledger_months
    WHERE account IN (SELECT account FROM owned) AND (account, vehicle) IN (SELECT account, vehicle FROM owned)
        AND ledger_account IN {accounts:Array(String)}
    GROUP BY account, vehicle, month
    UNION ALL
    SELECT account, vehicle, toDate32('1970-01-01'), toInt64(0), toInt64(0), toUInt64(0) FROM owned
) AS m
INNER JOIN owned AS o ON o.account = m.account AND o.vehicle = m.vehicle
LEFT JOIN (
    SELECT account, cityHash64(timezone, JSONExtractRaw(body, 'papers', 'owner_costs')) AS terms FROM accounts FINAL
    WHERE ({account:UInt64} = 0 OR account = {account:UInt64})
) AS a ON a.account = m.account
LEFT JOIN (
    SELECT account, vehicle, month, at, basis FROM owner_share_looks FINAL WHERE ({account:UInt64} = 0 OR account = {account:UInt64})
) AS l ON l.account = m.account AND l.vehicle = m.vehicle AND l.month = m.month
WHERE l.basis != cityHash64(o.terms, a.terms, m.total, m.counted, m.ids)
ORDER BY l.at, account, month, vehicle
LIMIT {limit:UInt32}
