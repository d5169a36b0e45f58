-- report: Return on the fleet
-- about: What became of the money that was put into vehicles: what they brought since, what they are still worth by the books,
--   and when they have paid for themselves. Of vehicles whose record says what they cost, through the month of the last day.
-- bases: accrual
-- groups: total vehicle make model class location owner tag
-- figure acquisition_cost money: What was paid for the vehicles.
-- figure net_cash money: All that they brought: revenue less all costs but depreciation, since their first day.
-- figure depreciated money: Depreciation since their first day.
-- figure current_value money: Acquisition cost less depreciation.
-- figure gain money: Net cash and current value less acquisition cost.
-- figure profit_12 money: Net profit of the last twelve months, after depreciation.
-- figure revenue_12 money: Revenue of the last twelve months.
-- figure capital_12 money: The value at the beginning of the last twelve months plus that at their end: twice the average.
-- figure remaining money: What is missing until net cash has reached the acquisition cost; nothing if it has.
-- figure recent_cash amount: Net cash of the last three months; null unless more than nothing.
-- figure payback_month date: The first month by whose end net cash had reached the acquisition cost; null if it has not yet.
-- figure payback_months months: How many months that took, the first with money counted; null if it has not yet.
-- ratio roi percent = gain / acquisition_cost: Gain of what was paid.
-- ratio annual_roi percent = profit_12 * 2 / capital_12: Net profit of the last twelve months of the average capital in them.
-- ratio dollar_utilization percent = revenue_12 / acquisition_cost: Revenue of the last twelve months of what was paid.
-- ratio payback_forecast months = remaining * 3 / recent_cash: Months until it is reached, if they go on as the last three.
-- EXPLAIN indexes=1: vehicle_months by account and month, vehicles by account.
WITH
    makeDate32(toYear({to:Date32}), toMonth({to:Date32}), 1) AS last_month,
    toDate32(addMonths(last_month, -11)) AS year_from, toDate32(addMonths(last_month, -2)) AS recent_from,
    bought AS (
        SELECT vehicle, acquisition_cost
        FROM vehicle_traits
        WHERE account = {account:UInt64} AND acquisition_currency = {currency:String} AND acquisition_cost > 0
            AND (acquired_on = '' OR acquired_on <= toString({to:Date32}))
            AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
            AND vehicle IN (/*query vehicles_chosen*/)
    ),
    keyed AS (
        SELECT b.vehicle AS vehicle, b.acquisition_cost AS acquisition_cost, if({group:String} = 'total', '',
            if({group:String} = 'vehicle', toString(b.vehicle), ifNull(keys.key, ''))) AS key
        FROM bought AS b
        LEFT JOIN (/*query vehicle_keys*/) AS keys ON keys.vehicle = b.vehicle
    )
SELECT paid.key AS key, paid.cost AS acquisition_cost, arraySum(m.cash) AS net_cash, arraySum(m.worn) AS depreciated,
    acquisition_cost - depreciated AS current_value, net_cash + current_value - acquisition_cost AS gain,
    arraySum((c, w, t) -> if(t >= year_from, c - w, 0), m.cash, m.worn, m.months) AS profit_12,
    arraySum((r, t) -> if(t >= year_from, r, 0), m.earned, m.months) AS revenue_12,
    2 * acquisition_cost - depreciated - arraySum((w, t) -> if(t < year_from, w, 0), m.worn, m.months) AS capital_12,
    greatest(acquisition_cost - net_cash, 0) AS remaining,
    nullIf(greatest(arraySum((c, t) -> if(t >= recent_from, c, 0), m.cash, m.months), 0), 0) AS recent_cash,
    arrayFirstIndex(c -> c >= acquisition_cost, arrayCumSum(m.cash)) AS at,
    if(at = 0, NULL, toString(m.months[at])) AS payback_month,
    if(at = 0, NULL, toInt64(dateDiff('month', m.months[1], m.months[at]) + 1)) AS payback_months
FROM (SELECT key, sum(acquisition_cost) AS cost FROM keyed GROUP BY key) AS paid
LEFT JOIN (
    SELECT key, groupArray(month) AS months, groupArray(cash) AS cash, groupArray(worn) AS worn, groupArray(earned) AS earned
    FROM (
        SELECT keyed.key AS key, v.month AS month, sum(v.worn) AS worn, sum(v.earned) AS earned,
            sum(v.earned - v.platform_fees - v.running - v.standing) AS cash
        FROM (
            SELECT vehicle, month, sum(revenue) AS earned, sum(platform_fees) AS platform_fees, sum(variable_cost) AS running,
                sum(fixed_cost - cost_depreciation) AS standing, sum(cost_depreciation) AS worn
            FROM vehicle_months FINAL
            WHERE account = {account:UInt64} AND month <= last_month AND currency = {currency:String}
            GROUP BY vehicle, month
        ) AS v
        INNER JOIN keyed ON keyed.vehicle = v.vehicle
        GROUP BY key, month
        ORDER BY key, month
    )
    GROUP BY key
) AS m ON m.key = paid.key
SETTINGS do_not_merge_across_partitions_select_final = 1
