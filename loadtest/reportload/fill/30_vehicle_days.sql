-- steps: 120
-- The facts of each vehicle and day, a month after the other: from rentals, entries and trips.
INSERT INTO vehicle_days (account, local_date, vehicle, currency, computed_at, day_s, fleet_s, down_s, rented_s, idle_s, billed_days, driven_m,
    rented_m, fuel_l, energy_kwh, revenue_time, revenue_extras, platform_fees, cost_energy, cost_maintenance, cost_depreciation, cost_insurance)
WITH toDate32(addMonths(toDate32('2020-01-01'), {step:UInt32})) AS first, toDate32(addMonths(first, 1)) AS next
SELECT 7, g.day, g.car, 'USD', toDateTime64(g.day, 3, 'UTC') + INTERVAL 2 DAY, 86400, 86400, if(r.s = 0 AND cityHash64(g.car, g.day) % 30 = 0, 43200, 0) AS down,
    r.s, 86400 - down - r.s, r.b, t.m, if(r.s > 0, t.m, 0), if(g.car % 4 = 0, 0, t.n * 2.5), if(g.car % 4 = 0, t.n * 7, 0),
    e.rent, e.extra, e.fee, e.fuel, e.work, e.worn, e.insured
FROM (
    SELECT first + intDiv(number, 5000) AS day, 1 + number % 5000 AS car FROM numbers(155000) WHERE day < next
) AS g
LEFT JOIN (
    SELECT vehicle, local_date, toUInt32(least(86400, sum(rented_s))) AS s, toUInt32(sum(billed_days)) AS b
    FROM rental_days WHERE account = 7 AND local_date >= first AND local_date < next GROUP BY vehicle, local_date
) AS r ON r.vehicle = g.car AND r.local_date = g.day
LEFT JOIN (
    SELECT vehicle, toDate32(start_at) AS day, sum(distance_m) AS m, count() AS n
    FROM trips WHERE account = 7 AND start_at >= toDateTime64(first, 3, 'UTC') AND start_at < toDateTime64(next, 3, 'UTC') GROUP BY vehicle, day
) AS t ON t.vehicle = g.car AND t.day = g.day
LEFT JOIN (
    SELECT vehicle, local_date, -sumIf(amount, ledger_account = 'revenue.time') AS rent, -sumIf(amount, ledger_account = 'revenue.extras') AS extra,
        sumIf(amount, ledger_account = 'cost.platform_fee') AS fee, sumIf(amount, ledger_account = 'cost.fuel') AS fuel,
        sumIf(amount, ledger_account IN ('cost.maintenance', 'cost.repair', 'cost.tires')) AS work,
        sumIf(amount, ledger_account = 'cost.depreciation') AS worn, sumIf(amount, ledger_account = 'cost.insurance') AS insured
    FROM ledger_entries WHERE account = 7 AND local_date >= first AND local_date < next AND currency = 'USD' GROUP BY vehicle, local_date
) AS e ON e.vehicle = g.car AND e.local_date = g.day
