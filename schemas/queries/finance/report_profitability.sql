-- report: Profitability
-- about: What is left of the revenue: the contribution after what channels keep and what driving and renting costs, and the
--   net profit after what vehicles cost whether they are rented or not. On the cash basis, what came in less what was paid, but
--   for vehicles and loans, and for money that journal entries by hand moved: what owners put in is no income.
-- bases: accrual cash
-- groups: total day week month quarter year vehicle make model class location channel customer owner tag
-- figure revenue money [ledger minus revenue_time, revenue_mileage, revenue_extras, revenue_protection, revenue_fees, revenue_damage, discounts, refunds] [cash cash, deposits_held of payment, booking]: All
--   revenue, net of discounts and refunds, without taxes, deposits and tolls that are passed on. On the cash basis, what
--   payments brought in, net of what was given back and kept by providers, and what was kept of deposits, taxes included.
-- figure platform_fees money [ledger platform_fees]: What channels keep.
-- figure energy money [ledger cost_energy]: Fuel and charging.
-- figure maintenance money [ledger cost_maintenance]: Maintenance, repairs and tires.
-- figure other_variable money [ledger cost_other_variable]: Other costs of driving and renting: cleaning, tolls, fines, payment
--   fees, and what owners of vehicles get, less the running costs that they bear.
-- figure toll_recharge money [ledger minus toll_recharge]: Tolls and fines passed on to customers, which lessen the variable cost.
-- figure variable_cost money [ledger cost_energy, cost_maintenance, cost_other_variable, toll_recharge]: Energy, maintenance
--   and other variable costs, less what is passed on.
-- figure contribution money [ledger minus revenue_time, revenue_mileage, revenue_extras, revenue_protection, revenue_fees, revenue_damage, discounts, refunds, platform_fees, cost_energy, cost_maintenance, cost_other_variable, toll_recharge]: Revenue
--   less platform fees and variable cost.
-- figure depreciation money [ledger cost_depreciation]: Depreciation.
-- figure finance money [ledger cost_finance]: Leases and interest.
-- figure insurance money [ledger cost_insurance]: Insurance.
-- figure other_fixed money [ledger cost_other_fixed]: Other costs that are there whether vehicles are rented or not, less
--   the fixed costs that owners of vehicles bear.
-- figure fixed_cost money [ledger cost_depreciation, cost_finance, cost_insurance, cost_other_fixed]: Depreciation, finance,
--   insurance and other fixed costs.
-- figure paid money [cash minus cash of expense, work_order, toll, -capital]: On the cash basis, what was paid for expenses, work orders and tolls, but for capital; null on the other.
-- figure capital money [cash minus cash of expense, capital]: On the cash basis, what was paid for vehicles and back to lenders, less what vehicles were sold for; no
--   cost, and not in net_profit; null on the other.
-- figure net_profit money [ledger minus revenue_time, revenue_mileage, revenue_extras, revenue_protection, revenue_fees, revenue_damage, discounts, refunds, platform_fees, cost_energy, cost_maintenance, cost_other_variable, toll_recharge, cost_depreciation, cost_finance, cost_insurance, cost_other_fixed] [cash cash, deposits_held of payment, booking, expense, work_order, toll, -capital]: Contribution
--   less fixed cost. On the cash basis, revenue less what was paid.
-- figure billed_days days: Days that rentals in the currency are billed for.
-- figure fleet_s seconds: Seconds in the fleet, of all vehicles whatever their currency; null by channel and customer.
-- figure rental_margin amount: Revenue for time and miles, net of discounts, less variable cost; null unless more than nothing.
-- ratio contribution_margin percent = contribution / revenue: Contribution of the revenue.
-- ratio net_margin percent = net_profit / revenue: Net profit of the revenue.
-- ratio contribution_per_rented_day money = contribution / billed_days: Contribution for each billed day.
-- ratio net_profit_per_rented_day money = net_profit / billed_days: Net profit for each billed day.
-- ratio break_even_utilization percent = fixed_cost * billed_days * 86400 / (fleet_s * rental_margin): How many of the
--   days in the fleet have to be sold, at this rate and variable cost a day, to bear the fixed cost. Days in the fleet are of no
--   currency: it is right of vehicles whose money is of one.
-- Null on the cash basis is what is not moved as money, or not apart. The totals are of the same rows, but by tag, of which a vehicle has
-- many. EXPLAIN indexes=1: as in finance_facts.sql.
SELECT f.everything AS everything, f.key AS key, f.revenue_time + f.revenue_mileage + f.revenue_extras + f.revenue_protection + f.revenue_fees
        + f.revenue_damage + f.discounts + f.refunds AS earned,
    f.cost_energy + f.cost_maintenance + f.cost_other_variable - f.toll_recharge AS running,
    f.cost_depreciation + f.cost_finance + f.cost_insurance + f.cost_other_fixed AS standing,
    f.revenue_time + f.revenue_mileage + f.discounts - running AS margin,
    {basis:String} = 'cash' AS cash,
    if(cash, f.received, earned) AS revenue,
    if(cash, NULL, f.platform_fees) AS platform_fees,
    if(cash, NULL, f.cost_energy) AS energy,
    if(cash, NULL, f.cost_maintenance) AS maintenance,
    if(cash, NULL, f.cost_other_variable) AS other_variable,
    if(cash, NULL, f.toll_recharge) AS toll_recharge,
    if(cash, NULL, running) AS variable_cost,
    if(cash, NULL, earned - f.platform_fees - running) AS contribution,
    if(cash, NULL, f.cost_depreciation) AS depreciation,
    if(cash, NULL, f.cost_finance) AS finance,
    if(cash, NULL, f.cost_insurance) AS insurance,
    if(cash, NULL, f.cost_other_fixed) AS other_fixed,
    if(cash, NULL, standing) AS fixed_cost,
    if(cash, NULL, f.billed_days) AS billed_days,
    if(cash, NULL, f.fleet_s) AS fleet_s,
    if(cash, f.paid, NULL) AS paid,
    if(cash, f.capital, NULL) AS capital,
    if(cash, f.received - f.paid, earned - f.platform_fees - running - standing) AS net_profit,
    if(cash OR margin <= 0, NULL, margin) AS rental_margin
FROM (
    SELECT key, grouping(key) AS everything, sum(x.billed_days) AS billed_days, sum(x.revenue_time) AS revenue_time,
        sum(x.revenue_mileage) AS revenue_mileage, sum(x.revenue_extras) AS revenue_extras,
        sum(x.revenue_protection) AS revenue_protection, sum(x.revenue_fees) AS revenue_fees,
        sum(x.revenue_damage) AS revenue_damage, sum(x.discounts) AS discounts, sum(x.refunds) AS refunds,
        sum(x.toll_recharge) AS toll_recharge, sum(x.platform_fees) AS platform_fees,
        sum(x.cost_energy) AS cost_energy, sum(x.cost_maintenance) AS cost_maintenance,
        sum(x.cost_other_variable) AS cost_other_variable, sum(x.cost_depreciation) AS cost_depreciation,
        sum(x.cost_finance) AS cost_finance, sum(x.cost_insurance) AS cost_insurance,
        sum(x.cost_other_fixed) AS cost_other_fixed, sum(x.fleet_s) AS fleet_s, sum(x.received) AS received,
        sum(x.paid) AS paid, sum(x.capital) AS capital
    FROM (/*query finance_facts*/) AS x
    GROUP BY GROUPING SETS ((key), ())
    HAVING count() > 0 AND ({totals:Bool} OR NOT everything)
) AS f
