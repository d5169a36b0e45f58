-- steps: 10
-- The same by month.
INSERT INTO vehicle_months (account, month, vehicle, currency, computed_at, day_s, fleet_s, down_s, rented_s, idle_s, billed_days, driven_m, rented_m,
    fuel_l, energy_kwh, revenue_time, revenue_extras, platform_fees, cost_energy, cost_maintenance, cost_depreciation, cost_insurance)
SELECT account, addDays(local_date, 1 - toDayOfMonth(local_date)) AS month, vehicle, currency, max(computed_at), sum(day_s), sum(fleet_s), sum(down_s),
    sum(rented_s), sum(idle_s), sum(billed_days), sum(driven_m), sum(rented_m), sum(fuel_l), sum(energy_kwh), sum(revenue_time), sum(revenue_extras),
    sum(platform_fees), sum(cost_energy), sum(cost_maintenance), sum(cost_depreciation), sum(cost_insurance)
FROM vehicle_days
WHERE account = 7 AND toYear(local_date) = 2020 + {step:UInt32}
GROUP BY account, month, vehicle, currency
