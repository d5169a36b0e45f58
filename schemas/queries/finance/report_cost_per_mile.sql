-- report: Cost per mile
-- about: What a mile costs: while it is driven, and with what vehicles cost anyway. Miles are those of trackers, and of no currency:
--   what is for a mile is right of vehicles whose money is of one.
-- bases: accrual
-- groups: total day week month quarter year vehicle make model class location owner tag
-- figure driven_mi mi: Miles driven, rented or not, whatever the currency of their money.
-- figure energy money [ledger cost_energy]: Fuel and charging.
-- figure maintenance money [ledger cost_maintenance]: Maintenance, repairs and tires.
-- figure variable_cost money [ledger cost_energy, cost_maintenance, cost_other_variable, toll_recharge]: Energy, maintenance and
--   other costs of driving and renting, owners' shares among them, less tolls and fines that are passed on.
-- figure fixed_cost money [ledger cost_depreciation, cost_finance, cost_insurance, cost_other_fixed]: Depreciation, finance,
--   insurance and other costs that are there whether vehicles are driven or not.
-- figure total_cost money [ledger cost_energy, cost_maintenance, cost_other_variable, toll_recharge, cost_depreciation, cost_finance, cost_insurance, cost_other_fixed]: Variable
--   and fixed cost; what channels keep is not in it.
-- figure revenue money [ledger minus revenue_time, revenue_mileage, revenue_extras, revenue_protection, revenue_fees, revenue_damage, discounts, refunds]: All
--   revenue, net of discounts and refunds.
-- ratio running_cost_per_mi per_mi = variable_cost / driven_mi: Variable cost of each mile, in minor units.
-- ratio total_cost_per_mi per_mi = total_cost / driven_mi: Variable and fixed cost of each mile.
-- ratio energy_per_mi per_mi = energy / driven_mi: Fuel and charging for each mile.
-- ratio maintenance_per_mi per_mi = maintenance / driven_mi: Maintenance, repairs and tires for each mile.
-- ratio revenue_per_mi per_mi = revenue / driven_mi: Revenue for each mile driven.
SELECT f.key AS key, round(f.driven_m / 1609.344, 3) AS driven_mi, f.cost_energy AS energy, f.cost_maintenance AS maintenance,
    f.cost_energy + f.cost_maintenance + f.cost_other_variable - f.toll_recharge AS variable_cost,
    f.cost_depreciation + f.cost_finance + f.cost_insurance + f.cost_other_fixed AS fixed_cost,
    variable_cost + fixed_cost AS total_cost, f.revenue_time + f.revenue_mileage + f.revenue_extras + f.revenue_protection
        + f.revenue_fees + f.revenue_damage + f.discounts + f.refunds AS revenue
FROM (/*query vehicle_facts*/) AS f
