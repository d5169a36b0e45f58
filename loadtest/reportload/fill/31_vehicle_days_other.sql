-- steps: 10
-- What vehicles earned and cost in another currency, a year after the other.
INSERT INTO vehicle_days (account, local_date, vehicle, currency, computed_at, revenue_time, revenue_extras, platform_fees, cost_energy, cost_maintenance)
SELECT 7, local_date, vehicle, currency, toDateTime64(local_date, 3, 'UTC') + INTERVAL 2 DAY,
    -sumIf(amount, ledger_account = 'revenue.time'), -sumIf(amount, ledger_account = 'revenue.extras'), sumIf(amount, ledger_account = 'cost.platform_fee'),
    sumIf(amount, ledger_account = 'cost.fuel'), sumIf(amount, ledger_account IN ('cost.maintenance', 'cost.repair', 'cost.tires'))
FROM ledger_entries
WHERE account = 7 AND toYear(local_date) = 2020 + {step:UInt32} AND currency = 'EUR' AND (startsWith(ledger_account, 'revenue.') OR startsWith(ledger_account, 'cost.'))
GROUP BY local_date, vehicle, currency
