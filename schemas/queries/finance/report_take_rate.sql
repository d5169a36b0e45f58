-- report: Take rate
-- about: What platforms keep of what rentals earn, by the channel that they came through.
-- bases: accrual
-- groups: channel total day week month quarter year vehicle make model class location customer owner tag
-- figure gross money [ledger minus revenue_time, revenue_mileage, revenue_extras, revenue_protection, revenue_fees, revenue_damage, discounts, refunds]: What
--   was earned, net of discounts and refunds, without taxes, deposits and recharged tolls.
-- figure platform_fees money [ledger platform_fees]: What platforms keep of it.
-- ratio take_rate percent = platform_fees / gross: What platforms keep of what was earned.
-- Class and location are those of vehicles now. EXPLAIN indexes=1: as in ledger_sums.sql.
SELECT
    multiIf(
        {group:String} = 'total', '',
        {group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toString(toDate32(dateTrunc(
            if({group:String} IN ('week', 'month', 'quarter', 'year'), {group:String}, 'day'), since))),
        {group:String} = 'vehicle', toString(b.vehicle),
        {group:String} = 'channel', CAST(channel, 'String'),
        {group:String} = 'customer', toString(customer),
        ifNull(keys.key, '')) AS key,
    -sumIf(amount, measure IN ('revenue_time', 'revenue_mileage', 'revenue_extras', 'revenue_protection', 'revenue_fees', 'revenue_damage',
        'discounts', 'refunds')) AS gross,
    sumIf(amount, measure = 'platform_fees') AS platform_fees
FROM (
    SELECT since, vehicle, channel, customer, amount, transform(ledger_account, {accounts:Array(String)}, {measures:Array(String)}, '') AS measure
    FROM (/*query ledger_sums*/)
    WHERE currency = {currency:String}
        AND ledger_account IN (SELECT arrayJoin(arrayFilter((a, m) -> m != '', {accounts:Array(String)}, {measures:Array(String)})))
        AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
        AND (empty({channels:Array(String)}) OR channel IN {channels:Array(String)})
        AND (empty({customers:Array(UInt64)}) OR customer IN {customers:Array(UInt64)})
        AND (empty({classes:Array(UInt64)}) AND empty({locations:Array(UInt64)}) AND empty({owners:Array(UInt64)})
                AND empty({tags:Array(String)}) AND empty({makes:Array(String)}) AND empty({models:Array(String)})
            OR vehicle IN (/*query vehicles_chosen*/))
) AS b
LEFT JOIN (/*query vehicle_keys*/) AS keys ON keys.vehicle = b.vehicle
GROUP BY key
