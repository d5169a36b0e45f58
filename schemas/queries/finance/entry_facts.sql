-- Sums of entries of the ledger by the key of a group, as vehicle_facts.sql has them of facts, for what facts do not know:
-- channels, customers, and the cash basis. Which account goes into which measure is said by the chart, in
-- parameters. Revenue and what lessens it are credits; costs are debits. Seconds and billed days are those of
-- rental_days in the currency. On the cash basis nothing of this is summed but received, paid and capital, on the days on which money
-- moved. received: what payments brought in less what they gave back and what providers kept of them, and what was kept of
-- deposits, which the entries of a booking on cash and deposits_held come to (they are of no vehicle); other deposits are
-- nobody's income. paid: what was paid for expenses, work orders and tolls. Taxes are in both. What journal entries by hand moved is in none: what owners put
-- in is no income. capital: what was paid for
-- vehicles and back to lenders, less what vehicles were sold for: none of it is a cost, nor in paid; entries on cash do
-- not say it, expenses do by their category, as it is now. A part of reports. EXPLAIN indexes=1: as in ledger_sums.sql, ledger_flows by
-- account, ledger_account and local_date, rental_days by account and local_date, expenses by account; of the two bases one reads nothing.
SELECT
    if({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toString(began), if({group:String} IN ('vehicle', 'customer'),
        toString(number), if({group:String} = 'channel', word, if({group:String} = 'total', '', ''/*if by_traits*/ || ifNull(keys.key, '')/*end by_traits*/)))) AS key,
    sum(entries.rented_s) AS rented_s, sum(entries.billed_days) AS billed_days,
    sum(entries.revenue_time) AS revenue_time, sum(entries.revenue_mileage) AS revenue_mileage,
    sum(entries.revenue_extras) AS revenue_extras, sum(entries.revenue_protection) AS revenue_protection,
    sum(entries.revenue_fees) AS revenue_fees, sum(entries.revenue_damage) AS revenue_damage,
    sum(entries.discounts) AS discounts, sum(entries.refunds) AS refunds,
    sum(entries.toll_recharge) AS toll_recharge, sum(entries.platform_fees) AS platform_fees,
    sum(entries.cost_energy) AS cost_energy, sum(entries.cost_maintenance) AS cost_maintenance,
    sum(entries.cost_other_variable) AS cost_other_variable, sum(entries.cost_depreciation) AS cost_depreciation,
    sum(entries.cost_finance) AS cost_finance, sum(entries.cost_insurance) AS cost_insurance,
    sum(entries.cost_other_fixed) AS cost_other_fixed,
    sum(entries.received) AS received, sum(entries.paid) AS paid, sum(entries.capital) AS capital
FROM (
    /*if accrual*/SELECT
        if({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toDate32(dateTrunc(
            if({group:String} IN ('week', 'month', 'quarter', 'year'), {group:String}, 'day'), local_date)), toDate32('1970-01-01')) AS began,
        multiIf({group:String} IN ('total', 'day', 'week', 'month', 'quarter', 'year'), 0, {group:String} = 'customer', customer,
            {group:String} = 'channel', cityHash64(channel), vehicle) AS number,
        if({group:String} = 'channel', any(channel), '') AS word,
        toUInt64(0) AS rented_s, toUInt64(0) AS billed_days,
        sumIf(-amount, measure = 'revenue_time') AS revenue_time,
        sumIf(-amount, measure = 'revenue_mileage') AS revenue_mileage,
        sumIf(-amount, measure = 'revenue_extras') AS revenue_extras,
        sumIf(-amount, measure = 'revenue_protection') AS revenue_protection,
        sumIf(-amount, measure = 'revenue_fees') AS revenue_fees,
        sumIf(-amount, measure = 'revenue_damage') AS revenue_damage,
        sumIf(-amount, measure = 'discounts') AS discounts,
        sumIf(-amount, measure = 'refunds') AS refunds,
        sumIf(-amount, measure = 'toll_recharge') AS toll_recharge,
        sumIf(amount, measure = 'platform_fees') AS platform_fees,
        sumIf(amount, measure = 'cost_energy') AS cost_energy,
        sumIf(amount, measure = 'cost_maintenance') AS cost_maintenance,
        sumIf(amount, measure = 'cost_other_variable') AS cost_other_variable,
        sumIf(amount, measure = 'cost_depreciation') AS cost_depreciation,
        sumIf(amount, measure = 'cost_finance') AS cost_finance,
        sumIf(amount, measure = 'cost_insurance') AS cost_insurance,
        sumIf(amount, measure = 'cost_other_fixed') AS cost_other_fixed,
        toInt64(0) AS received, toInt64(0) AS paid, toInt64(0) AS capital
    FROM (
        SELECT since AS local_date, vehicle, customer, channel, amount,
            transform(ledger_account, {accounts:Array(String)}, {measures:Array(String)}, '') AS measure
        FROM (/*query ledger_sums*/)
        WHERE {basis:String} != 'cash' AND currency = {currency:String}
            AND ledger_account IN (SELECT arrayJoin(arrayFilter((a, m) -> m != '', {accounts:Array(String)}, {measures:Array(String)})))
    )
    WHERE (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
        AND (empty({customers:Array(UInt64)}) OR customer IN {customers:Array(UInt64)})
        AND (empty({channels:Array(String)}) OR channel IN {channels:Array(String)})
        /*if chosen*/AND (empty({classes:Array(UInt64)}) AND empty({locations:Array(UInt64)}) AND empty({owners:Array(UInt64)})
                AND empty({tags:Array(String)}) AND empty({makes:Array(String)}) AND empty({models:Array(String)})
            OR vehicle IN (/*query vehicles_chosen*/))/*end chosen*/
    GROUP BY began, number
    UNION ALL/*end accrual*/
    /*if cash*/SELECT
        if({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toDate32(dateTrunc(
            if({group:String} IN ('week', 'month', 'quarter', 'year'), {group:String}, 'day'), local_date)), toDate32('1970-01-01')) AS began,
        multiIf({group:String} IN ('total', 'day', 'week', 'month', 'quarter', 'year'), 0, {group:String} = 'customer', customer,
            {group:String} = 'channel', cityHash64(channel), vehicle) AS number,
        if({group:String} = 'channel', any(channel), '') AS word,
        toUInt64(0) AS rented_s, toUInt64(0) AS billed_days, toInt64(0) AS revenue_time,
        toInt64(0) AS revenue_mileage, toInt64(0) AS revenue_extras, toInt64(0) AS revenue_protection,
        toInt64(0) AS revenue_fees, toInt64(0) AS revenue_damage, toInt64(0) AS discounts, toInt64(0) AS refunds,
        toInt64(0) AS toll_recharge, toInt64(0) AS platform_fees, toInt64(0) AS cost_energy,
        toInt64(0) AS cost_maintenance, toInt64(0) AS cost_other_variable, toInt64(0) AS cost_depreciation,
        toInt64(0) AS cost_finance, toInt64(0) AS cost_insurance, toInt64(0) AS cost_other_fixed,
        sumIf(amount, kind IN ('payment', 'booking')) AS received,
        -sumIf(amount, kind IN ('expense', 'work_order', 'toll') AND NOT of_capital) AS paid,
        -sumIf(amount, of_capital) AS capital
    FROM (
        SELECT local_date, vehicle, customer, channel, amount, kind,
            kind = 'expense' AND source IN (
                SELECT id FROM expenses FINAL
                WHERE account = {account:UInt64} AND {basis:String} = 'cash'
                    AND category IN ('vehicle_purchase', 'vehicle_sale', 'loan_principal')
            ) AS of_capital
        FROM ledger_flows
        WHERE {basis:String} = 'cash' AND account = {account:UInt64} AND ledger_account IN ('cash', 'deposits_held')
            AND local_date BETWEEN {from:Date32} AND {to:Date32} AND currency = {currency:String}
    )
    WHERE (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
        AND (empty({customers:Array(UInt64)}) OR customer IN {customers:Array(UInt64)})
        AND (empty({channels:Array(String)}) OR channel IN {channels:Array(String)})
        /*if chosen*/AND (empty({classes:Array(UInt64)}) AND empty({locations:Array(UInt64)}) AND empty({owners:Array(UInt64)})
                AND empty({tags:Array(String)}) AND empty({makes:Array(String)}) AND empty({models:Array(String)})
            OR vehicle IN (/*query vehicles_chosen*/))/*end chosen*/
    GROUP BY began, number/*end cash*/
    /*if of_both*/UNION ALL/*end of_both*/
    /*if accrual*/SELECT
        if({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toDate32(dateTrunc(
            if({group:String} IN ('week', 'month', 'quarter', 'year'), {group:String}, 'day'), local_date)), toDate32('1970-01-01')) AS began,
        multiIf({group:String} IN ('total', 'day', 'week', 'month', 'quarter', 'year'), 0, {group:String} = 'customer', customer,
            {group:String} = 'channel', cityHash64(channel), vehicle) AS number,
        if({group:String} = 'channel', any(channel), '') AS word,
        sum(r.rented_s) AS rented_s, sum(r.billed_days) AS billed_days,
        toInt64(0), toInt64(0), toInt64(0), toInt64(0), toInt64(0), toInt64(0), toInt64(0), toInt64(0), toInt64(0), toInt64(0), toInt64(0), toInt64(0), toInt64(0), toInt64(0), toInt64(0), toInt64(0), toInt64(0), toInt64(0), toInt64(0), toInt64(0)
    FROM rental_days AS r FINAL
    WHERE {basis:String} != 'cash' AND account = {account:UInt64} AND local_date BETWEEN {from:Date32} AND {to:Date32}
        AND r.currency = {currency:String}
        AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
        AND (empty({customers:Array(UInt64)}) OR customer IN {customers:Array(UInt64)})
        AND (empty({channels:Array(String)}) OR channel IN {channels:Array(String)})
        /*if chosen*/AND (empty({classes:Array(UInt64)}) AND empty({locations:Array(UInt64)}) AND empty({owners:Array(UInt64)})
                AND empty({tags:Array(String)}) AND empty({makes:Array(String)}) AND empty({models:Array(String)})
            OR vehicle IN (/*query vehicles_chosen*/))/*end chosen*/
    GROUP BY began, number/*end accrual*/
) AS entries
/*if by_traits*/LEFT JOIN (/*query vehicle_keys*/) AS keys ON keys.vehicle = entries.number/*end by_traits*/
GROUP BY key
SETTINGS do_not_merge_across_partitions_select_final = 1
