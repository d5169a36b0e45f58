-- report: Return on the fleet
-- about: What became of the money that was put into vehicles: what they brought since, what they were sold for or are still worth by the
--   books, and when they have paid for themselves. Of vehicles whose record says what they cost, through the last day.
-- bases: accrual
-- groups: total vehicle make model class location owner tag
-- figure acquisition_cost money: What was paid for the vehicles.
-- figure net_cash money: All that they brought: revenue less all costs but depreciation, since their first day.
-- figure sold_for money: What those of them were sold for that were disposed of by then, as their records say; nothing where they do not say it.
-- figure depreciated money: Depreciation since their first day, less what a sale brought beyond the book value.
-- figure current_value money: Acquisition cost less depreciation of those that are not disposed of.
-- figure gain money: Net cash, what was got by sales and current value, less acquisition cost. Of vehicles that are disposed of it is final.
-- figure profit_12 money: Net profit of the last twelve months, after depreciation: of the month of the last day through that day, and of the
--   eleven before.
-- figure revenue_12 money: Revenue of the same months.
-- figure acquisition_12 money: Acquisition cost of those that were not disposed of before the last twelve months.
-- figure capital_12 money: The value at the beginning of the last twelve months plus that at their end: twice the average.
-- figure remaining money: What is missing until net cash and sales have reached the acquisition cost; nothing if they have.
-- figure recent_cash amount: Net cash of those that are not disposed of: of the month of the last day through that day, and of the two
--   before; null unless more than nothing.
-- figure payback_month date: The first month by whose end net cash and sales had reached the acquisition cost; null if they have not yet.
-- figure payback_months months: How many months that took, the first with money counted; null if it has not yet.
-- ratio roi percent = gain / acquisition_cost: Gain of what was paid.
-- ratio annual_roi percent = profit_12 * 2 / capital_12: Net profit of the last twelve months of the average capital in them. The month of
--   the last day counts as one, though it may not be over.
-- ratio dollar_utilization percent = revenue_12 / acquisition_12: Revenue of the last twelve months of what was paid.
-- ratio payback_forecast months = remaining * 3 / recent_cash: Months until it is reached, if those that are not disposed of go on as in the
--   last three, of which the month of the last day counts as one: it is too long early in a month; ask for the last day of one.
-- What a vehicle brought is an array with a place for each month since the first one of all (first_month), which are added up by key: so
-- only vehicles are joined and grouped, not each month of each. The totals are of the same reads; by tag they are not, as a vehicle has many.
-- Of a month that is not over by the last day its days are read. EXPLAIN indexes=1: vehicle_months by account and month, vehicle_days by
-- account and local_date, vehicles by account.
WITH
    makeDate32(toYear({to:Date32} + 1), toMonth({to:Date32} + 1), 1) AS whole_until,
    makeDate32(toYear({to:Date32}), toMonth({to:Date32}), 1) AS last_month,
    toDate32(addMonths(last_month, -11)) AS year_from, toDate32(addMonths(last_month, -2)) AS recent_from,
    sales AS (
        SELECT id AS vehicle, toDate32OrNull(JSONExtractString(body, 'disposal_on')) AS sold_on,
            if(JSONExtractString(body, 'disposal_price', 'currency') = {currency:String}, JSONExtractInt(body, 'disposal_price', 'amount'), 0) AS sold_for
        FROM vehicles FINAL
        WHERE account = {account:UInt64} AND sold_on <= least({to:Date32}, {today:Date32})
    ),
    bought AS (
        SELECT t.vehicle AS vehicle, t.acquisition_cost AS acquisition_cost, s.sold_on AS sold_on, s.sold_for AS sold_for,
            isNull(s.sold_on) AS held, ifNull(s.sold_on >= year_from, 1) AS lately
        FROM vehicle_traits AS t
        LEFT JOIN sales AS s ON s.vehicle = t.vehicle
        WHERE t.account = {account:UInt64} AND t.acquisition_currency = {currency:String} AND t.acquisition_cost > 0
            AND (t.acquired_on = '' OR t.acquired_on <= toString({to:Date32}))
            AND (empty({vehicles:Array(UInt64)}) OR t.vehicle IN {vehicles:Array(UInt64)})
            AND t.vehicle IN (/*query vehicles_chosen*/)
    ),
    (
        SELECT min(first) FROM (
            SELECT min(month) AS first FROM vehicle_months WHERE account = {account:UInt64} UNION ALL
            SELECT if(count() = 0, last_month, makeDate32(toYear(min(sold_on)), toMonth(min(sold_on)), 1)) FROM sales
        )
    ) AS first_month,
    arrayMap((c, s) -> c + s, arrayResize(cash, greatest(length(cash), length(sold))), arrayResize(sold, greatest(length(cash), length(sold)))) AS came,
    arrayFirstIndex(c -> c >= acquisition_cost, arrayCumSum(came)) AS at, toDate32(addMonths(first_month, at - 1)) AS back_in
SELECT key, everything, cost AS acquisition_cost, arraySum(cash) AS net_cash, sold_for, depreciated,
    cost_held - worn_held AS current_value, net_cash + sold_for + current_value - acquisition_cost AS gain, profit_12, revenue_12,
    cost_lately AS acquisition_12, cost_lately - worn_lately + current_value AS capital_12,
    greatest(acquisition_cost - net_cash - sold_for, 0) AS remaining, nullIf(greatest(recent, 0), 0) AS recent_cash,
    if(at = 0, NULL, toString(back_in)) AS payback_month,
    if(at = 0, NULL, toInt64(dateDiff('month', began, back_in) + 1)) AS payback_months
FROM (
    SELECT b.key AS key, grouping(key) AS everything, sum(b.acquisition_cost) AS cost, sumIf(b.acquisition_cost, b.held) AS cost_held,
        sumIf(b.acquisition_cost, b.lately) AS cost_lately, sum(b.sold_for) AS sold_for, sumForEach(m.cash) AS cash, sumForEach(m.sold) AS sold,
        minIf(m.began, notEmpty(m.cash) OR notEmpty(m.sold)) AS began, sum(m.worn) AS depreciated, sumIf(m.worn, b.held) AS worn_held,
        sumIf(m.worn_before, b.lately) AS worn_lately, sum(m.profit_12) AS profit_12, sum(m.revenue_12) AS revenue_12,
        sumIf(m.recent, b.held) AS recent
    FROM (
        SELECT bought.*, if({group:String} = 'total', '', if({group:String} = 'vehicle', toString(bought.vehicle), ''/*if by_traits*/ || ifNull(keys.key, '')/*end by_traits*/)) AS key
        FROM bought
        /*if by_traits*/LEFT JOIN (/*query vehicle_keys*/) AS keys ON keys.vehicle = bought.vehicle/*end by_traits*/
    ) AS b
    LEFT JOIN (
        WITH toUInt64(dateDiff('month', first_month, month)) AS place
        SELECT vehicle, min(month) AS began,
            groupArrayInsertAtIf(v.cash, place, v.sold = 0) AS cash, groupArrayInsertAtIf(v.sold, place, v.sold != 0) AS sold,
            sum(v.worn) AS worn, sumIf(v.worn, month < year_from) AS worn_before, sumIf(v.cash - v.worn, month >= year_from) AS profit_12,
            sumIf(v.earned, month >= year_from) AS revenue_12, sumIf(v.cash, month >= recent_from) AS recent
        FROM (
            SELECT vehicle, month, revenue AS earned, revenue - platform_fees - variable_cost - fixed_cost + cost_depreciation AS cash,
                cost_depreciation AS worn, toInt64(0) AS sold
            FROM vehicle_months FINAL
            WHERE account = {account:UInt64} AND month >= first_month AND month < whole_until AND currency = {currency:String}
            UNION ALL
            SELECT vehicle, last_month, sum(revenue), sum(revenue - platform_fees - variable_cost - fixed_cost + cost_depreciation),
                sum(cost_depreciation), 0
            FROM vehicle_days FINAL
            WHERE account = {account:UInt64} AND local_date BETWEEN whole_until AND {to:Date32} AND currency = {currency:String}
            GROUP BY vehicle
            UNION ALL
            SELECT vehicle, makeDate32(toYear(sold_on), toMonth(sold_on), 1), 0, 0, 0, sold_for FROM bought WHERE sold_for > 0
        ) AS v
        GROUP BY vehicle
    ) AS m ON m.vehicle = b.vehicle
    GROUP BY GROUPING SETS ((key), ())
    HAVING count() > 0 AND ({totals:Bool} OR NOT everything)
)
SETTINGS do_not_merge_across_partitions_select_final = 1
