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
        {group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toString(b.began),
        {group:String} IN ('vehicle', 'customer'), toString(b.number),
        {group:String} = 'channel', b.word,
        ''/*if by_traits*/ || ifNull(keys.key, '')/*end by_traits*/) AS key,
    -sum(b.gross) AS gross, sum(b.fees) AS platform_fees
FROM (
    WITH transform(ledger_account, {accounts:Array(String)}, {measures:Array(String)}, '') AS measure
    SELECT
        if({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toDate32(dateTrunc(
            if({group:String} IN ('week', 'month', 'quarter', 'year'), {group:String}, 'day'), since)), toDate32('1970-01-01')) AS began,
        multiIf({group:String} IN ('total', 'day', 'week', 'month', 'quarter', 'year'), 0, {group:String} = 'customer', customer,
            {group:String} = 'channel', cityHash64(channel), vehicle) AS number,
        if({group:String} = 'channel', any(channel), '') AS word,
        sumIf(amount, measure IN ('revenue_time', 'revenue_mileage', 'revenue_extras', 'revenue_protection', 'revenue_fees', 'revenue_damage',
            'discounts', 'refunds')) AS gross,
        sumIf(amount, measure = 'platform_fees') AS fees
    FROM (/*query ledger_sums*/)
    WHERE currency = {currency:String}
        AND ledger_account IN (SELECT arrayJoin(arrayFilter((a, m) -> m != '', {accounts:Array(String)}, {measures:Array(String)})))
        AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
        AND (empty({channels:Array(String)}) OR channel IN {channels:Array(String)})
        AND (empty({customers:Array(UInt64)}) OR customer IN {customers:Array(UInt64)})
        /*if chosen*/AND (empty({classes:Array(UInt64)}) AND empty({locations:Array(UInt64)}) AND empty({owners:Array(UInt64)})
                AND empty({tags:Array(String)}) AND empty({makes:Array(String)}) AND empty({models:Array(String)})
            OR vehicle IN (/*query vehicles_chosen*/))/*end chosen*/
    GROUP BY began, number
) AS b
/*if by_traits*/LEFT JOIN (/*query vehicle_keys*/) AS keys ON keys.vehicle = b.number/*end by_traits*/
GROUP BY key
