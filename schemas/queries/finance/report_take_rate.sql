-- report: Take rate
-- about: What platforms keep of what rentals earn, by the channel that they came through.
-- bases: accrual
-- groups: channel total day week month quarter year vehicle make model class location customer owner tag
-- figure gross money [ledger revenue_time, revenue_mileage, revenue_extras, revenue_protection, revenue_fees, revenue_damage, discounts, refunds]: What
--   was earned, net of discounts and refunds, without taxes, deposits and recharged tolls.
-- figure platform_fees money [ledger platform_fees]: What platforms keep of it.
-- ratio take_rate percent = platform_fees / gross: What platforms keep of what was earned.
-- EXPLAIN indexes=1: ledger_entries by the months of the span, the account and its days.
WITH
    arrayFilter((a, m) -> m IN ('revenue_time', 'revenue_mileage', 'revenue_extras', 'revenue_protection', 'revenue_fees',
        'revenue_damage', 'discounts', 'refunds'), {accounts:Array(String)}, {measures:Array(String)}) AS earned,
    arrayFilter((a, m) -> m = 'platform_fees', {accounts:Array(String)}, {measures:Array(String)}) AS kept
SELECT
    multiIf(
        {group:String} = 'total', '',
        {group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toString(toDate32(dateTrunc(
            if({group:String} IN ('week', 'month', 'quarter', 'year'), {group:String}, 'day'), b.day))),
        {group:String} = 'vehicle', toString(b.vehicle),
        {group:String} = 'class', toString(b.class),
        {group:String} = 'location', toString(b.location),
        {group:String} = 'channel', b.channel,
        {group:String} = 'customer', toString(b.customer),
        ifNull(keys.key, '')) AS key,
    sum(b.gross) AS gross, sum(b.fees) AS platform_fees
FROM (
    SELECT day, car AS vehicle, class, location, channel, payer AS customer, -sumIf(amount, ledger_account IN earned) AS gross,
        sumIf(amount, ledger_account IN kept) AS fees
    FROM (
        SELECT ledger_account, amount, vehicle, class, location, CAST(ledger_entries.channel, 'String') AS channel, customer,
            if({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), local_date, toDate32('1970-01-01')) AS day,
            if({group:String} IN ('vehicle', 'make', 'model', 'owner', 'tag'), vehicle, 0) AS car,
            if({group:String} = 'customer', customer, 0) AS payer
        FROM ledger_entries FINAL
        WHERE account = {account:UInt64} AND local_date BETWEEN {from:Date32} AND {to:Date32} AND currency = {currency:String}
            AND ledger_account IN arrayConcat(earned, kept)
            AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
            AND (empty({classes:Array(UInt64)}) OR class IN {classes:Array(UInt64)})
            AND (empty({locations:Array(UInt64)}) OR location IN {locations:Array(UInt64)})
            AND (empty({channels:Array(String)}) OR channel IN {channels:Array(String)})
            AND (empty({customers:Array(UInt64)}) OR customer IN {customers:Array(UInt64)})
            AND vehicle IN (/*query vehicles_held*/)
    )
    GROUP BY day, vehicle, class, location, channel, customer
) AS b
LEFT JOIN (/*query vehicle_keys*/) AS keys ON keys.vehicle = b.vehicle
GROUP BY key
SETTINGS do_not_merge_across_partitions_select_final = 1
