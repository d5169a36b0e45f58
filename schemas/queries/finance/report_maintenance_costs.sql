-- report: Maintenance costs
-- about: What keeping vehicles in order costs, planned and not, and how long it kept them off the road. Miles and time are of no
--   currency: what is for a mile or a vehicle is right of vehicles whose money is of one.
-- bases: accrual
-- groups: total day week month quarter year vehicle make model class location owner tag
-- figure maintenance money [ledger cost.maintenance]: Planned maintenance.
-- figure repair money [ledger cost.repair]: Repairs.
-- figure tires money [ledger cost.tires]: Tires.
-- figure total money [ledger cost_maintenance]: Maintenance, repairs and tires.
-- figure revenue money [ledger minus revenue_time, revenue_mileage, revenue_extras, revenue_protection, revenue_fees, revenue_damage, discounts, refunds]: All
--   revenue, net of discounts and refunds.
-- figure driven_mi mi: Miles driven.
-- figure fleet_s seconds: Seconds in the fleet.
-- figure down_s seconds: Of these, seconds in maintenance or out of service.
-- ratio maintenance_ratio percent = total / revenue: Maintenance cost of the revenue.
-- ratio maintenance_per_mi per_mi = total / driven_mi: Maintenance cost of each mile, in minor units.
-- ratio per_unit_month money = total * 2629800 / fleet_s: Maintenance cost of a vehicle in a month of 30.4375 days.
-- ratio planned_share percent = maintenance / total: Planned maintenance of all.
-- ratio downtime percent = down_s / fleet_s: Time in maintenance or out of service.
SELECT key, sum(m) AS maintenance, sum(r) AS repair, sum(t) AS tires, sum(m) + sum(r) + sum(t) AS total, sum(rev) AS revenue,
    round(sum(metres) / 1609.344, 3) AS driven_mi, sum(fleet) AS fleet_s, sum(down) AS down_s
FROM (
    SELECT f.key AS key, toInt64(0) AS m, toInt64(0) AS r, toInt64(0) AS t, f.revenue_time + f.revenue_mileage + f.revenue_extras
        + f.revenue_protection + f.revenue_fees + f.revenue_damage + f.discounts + f.refunds AS rev, f.driven_m AS metres,
        f.fleet_s AS fleet, f.down_s AS down
    FROM (/*query vehicle_facts*/) AS f
    UNION ALL
    SELECT if({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toString(began), if({group:String} = 'vehicle', toString(car),
        if({group:String} = 'total', '', ''/*if by_traits*/ || ifNull(keys.key, '')/*end by_traits*/))), e.m, e.r, e.t, 0, 0, 0, 0
    FROM (
        SELECT if({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toDate32(dateTrunc(
                if({group:String} IN ('week', 'month', 'quarter', 'year'), {group:String}, 'day'), since)), toDate32('1970-01-01')) AS began,
            vehicle AS car, sumIf(amount, ledger_account = 'cost.maintenance') AS m,
            sumIf(amount, ledger_account = 'cost.repair') AS r, sumIf(amount, ledger_account = 'cost.tires') AS t
        FROM (/*query ledger_sums*/)
        WHERE currency = {currency:String} AND ledger_account IN ('cost.maintenance', 'cost.repair', 'cost.tires')
            AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
            /*if chosen*/AND (empty({classes:Array(UInt64)}) AND empty({locations:Array(UInt64)}) AND empty({owners:Array(UInt64)})
                AND empty({tags:Array(String)}) AND empty({makes:Array(String)}) AND empty({models:Array(String)})
            OR vehicle IN (/*query vehicles_chosen*/))/*end chosen*/
        GROUP BY began, car
    ) AS e
    /*if by_traits*/LEFT JOIN (/*query vehicle_keys*/) AS keys ON keys.vehicle = e.car/*end by_traits*/
)
GROUP BY key
SETTINGS do_not_merge_across_partitions_select_final = 1
