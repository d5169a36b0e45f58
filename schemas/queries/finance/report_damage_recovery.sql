-- report: Damage recovery
-- about: What customers were charged for damage, beside what repairs cost.
-- bases: accrual
-- groups: total day week month quarter year vehicle make model class location channel customer owner tag
-- figure recovered money [ledger minus revenue.damage]: What customers were charged for damage.
-- figure repair_cost money [ledger cost.repair]: What repairs cost.
-- figure unrecovered money [ledger revenue.damage, cost.repair]: Cost of repairs less what customers were charged; negative if they were charged more.
-- ratio damage_recovery percent = recovered / repair_cost: What customers were charged of the cost of repairs.
-- Repairs that are no damage of a customer's are among them: the books have one account for both. A cost that names no booking has no
-- channel and no customer; class and location are those of vehicles now. EXPLAIN indexes=1: as in ledger_sums.sql.
SELECT
    multiIf(
        {group:String} = 'total', '',
        {group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toString(toDate32(dateTrunc(
            if({group:String} IN ('week', 'month', 'quarter', 'year'), {group:String}, 'day'), since))),
        {group:String} = 'vehicle', toString(b.vehicle),
        {group:String} = 'channel', CAST(channel, 'String'),
        {group:String} = 'customer', toString(customer),
        ''/*if by_traits*/ || ifNull(keys.key, '')/*end by_traits*/) AS key,
    -sumIf(amount, ledger_account = 'revenue.damage') AS recovered, sumIf(amount, ledger_account = 'cost.repair') AS repair_cost,
    repair_cost - recovered AS unrecovered
FROM (
    SELECT since, vehicle, channel, customer, ledger_account, amount
    FROM (/*query ledger_sums*/)
    WHERE currency = {currency:String} AND ledger_account IN ('revenue.damage', 'cost.repair')
        AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
        AND (empty({channels:Array(String)}) OR channel IN {channels:Array(String)})
        AND (empty({customers:Array(UInt64)}) OR customer IN {customers:Array(UInt64)})
        /*if chosen*/AND (empty({classes:Array(UInt64)}) AND empty({locations:Array(UInt64)}) AND empty({owners:Array(UInt64)})
                AND empty({tags:Array(String)}) AND empty({makes:Array(String)}) AND empty({models:Array(String)})
            OR vehicle IN (/*query vehicles_chosen*/))/*end chosen*/
) AS b
/*if by_traits*/LEFT JOIN (/*query vehicle_keys*/) AS keys ON keys.vehicle = b.vehicle/*end by_traits*/
GROUP BY key
