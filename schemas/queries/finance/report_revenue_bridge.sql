-- report: Revenue bridge
-- about: Why revenue differs from that of the span before: because there were more or fewer vehicles, because they were out
--   more or less of their time, or because an hour of rental earned more or less. The three effects add up to the change. Rentals are
--   those in the currency, of the whole fleet's time.
-- bases: accrual
-- groups: total vehicle make model class location owner tag
-- figure revenue money [ledger minus revenue_time, revenue_mileage, revenue_extras, revenue_protection, revenue_fees, revenue_damage, discounts, refunds]: All
--   revenue of the span, net of discounts and refunds.
-- figure revenue_before money: The same of the span that it is compared with: the previous period, unless compare says previous_year.
-- figure change money: Revenue less revenue before.
-- figure fleet_size_effect amount: What revenue before would have changed by, if only the rentable time had changed.
-- figure utilization_effect amount: What it would have changed by beyond that, if also the share of rented time had.
-- figure rate_effect amount: The rest: the change of revenue for rented time.
-- figure rentable_s seconds: Seconds in the fleet less those that it was down.
-- figure rentable_before_s seconds: The same of the span before.
-- figure rented_s seconds: Seconds on rent of rentals in the currency.
-- figure rented_before_s seconds: The same of the span before.
-- ratio utilization percent = rented_s / rentable_s: Time on rent of the time in which vehicles could be rented.
-- ratio utilization_before percent = rented_before_s / rentable_before_s: The same of the span before.
-- ratio rate_per_hour per_hour = revenue * 3600 / rented_s: Revenue for each hour on rent, in minor units.
-- ratio rate_before_per_hour per_hour = revenue_before * 3600 / rented_before_s: The same of the span before.
-- With revenue V, rentable time A and rented time R, before (0) and now (1): size = V0*(A1-A0)/A0, utilization = V0*R1/R0 -
-- V0*A1/A0, rate = V1 - V0*R1/R0, each of the products rounded once, half away from zero. Without A0 all change is of size;
-- without R0 what is not of size is of utilization. EXPLAIN indexes=1: as in vehicle_facts.sql, which is read for either span.
WITH now AS (/*query vehicle_facts*/), before AS (/*query vehicle_facts from=before_from to=before_to*/)
SELECT key, sum(v1) AS revenue, sum(v0) AS revenue_before, revenue - revenue_before AS change, sum(a1) AS rentable_s,
    sum(a0) AS rentable_before_s, sum(r1) AS rented_s, sum(r0) AS rented_before_s,
    toInt256(revenue_before) * rentable_s AS by_size, toInt256(revenue_before) * rented_s AS by_use,
    if(rentable_before_s = 0, toInt256(revenue), intDiv(abs(by_size) * 2 + rentable_before_s, 2 * greatest(rentable_before_s, 1)) * sign(by_size)) AS sized,
    if(rented_before_s = 0 OR rentable_before_s = 0, toInt256(revenue), intDiv(abs(by_use) * 2 + rented_before_s, 2 * greatest(rented_before_s, 1)) * sign(by_use)) AS used,
    toInt64(sized) - revenue_before AS fleet_size_effect, toInt64(used - sized) AS utilization_effect, revenue - toInt64(used) AS rate_effect
FROM (
    SELECT n.key AS key, n.revenue_time + n.revenue_mileage + n.revenue_extras + n.revenue_protection + n.revenue_fees
            + n.revenue_damage + n.discounts + n.refunds AS v1, toInt64(n.fleet_s) - toInt64(n.down_s) AS a1,
        toInt64(n.money_s) AS r1, toInt64(0) AS v0, toInt64(0) AS a0, toInt64(0) AS r0
    FROM now AS n
    UNION ALL
    SELECT b.key, 0, 0, 0, b.revenue_time + b.revenue_mileage + b.revenue_extras + b.revenue_protection + b.revenue_fees
        + b.revenue_damage + b.discounts + b.refunds, toInt64(b.fleet_s) - toInt64(b.down_s), toInt64(b.money_s)
    FROM before AS b
)
GROUP BY key
