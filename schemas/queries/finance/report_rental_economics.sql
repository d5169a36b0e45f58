-- report: Rental economics
-- about: What rentals in the currency really earned for each mile and hour. Rentals count when their vehicle comes back, with all that they
--   earned and all that was driven on them, whenever that was. Miles outside of rentals are those of the days of the span.
-- bases: accrual
-- groups: total day week month quarter year booking vehicle make model class location channel customer owner tag
-- places: booking
-- figure rentals count: Rentals in the currency whose vehicle came back in the span; seconds, days and miles are theirs alone.
-- figure rented_s seconds: Their seconds from pickup to return.
-- figure billed_days days: The days that they were billed for.
-- figure revenue money: What they earned, net of discounts and refunds, without taxes, deposits and recharged tolls.
-- figure contribution money: Their revenue less platform fees and the variable costs that name the rental, such as its tolls. What owners of
--   vehicles get is a cost of the vehicle and of no rental, and is not taken off.
-- figure gps_mi mi: Miles that trackers saw during them. A trip that a rental began or ended within counts by the share of its
--   time; a way of more than 62 days on which the tracker was silent, on the first 62.
-- figure compared_gps_mi mi: Of these, miles of rentals whose odometers were read at pickup and at return.
-- figure odometer_mi mi: Miles of the same rentals by their odometers.
-- figure over_mi mi: Miles by the odometers beyond those that the rate includes.
-- figure unbilled_mi mi: Of these, miles that were not charged for. A late day that was charged brings its own included miles.
-- figure unbilled_mileage money: These miles at the rate's fee for a mile.
-- figure missing_gal gal: Fuel that was in the tanks at pickup and not at return, by their size.
-- figure unbilled_gal gal: Of this, fuel of rentals that were charged nothing for refuelling.
-- figure unbilled_fuel money: What the missing fuel costs the account, as far as that is more than the rental was charged for it;
--   null unless the account says what a gallon costs it (energy_costs).
-- figure missing_kwh kwh: Energy that was in the traction batteries at pickup and not at return, by their size.
-- figure unbilled_kwh kwh: Of this, energy of rentals that were charged nothing for recharging.
-- figure unbilled_charging money: What the missing energy costs the account, as far as that is more than the rental was charged for
--   it; null unless the account says what a kilowatt-hour costs it (energy_costs).
-- figure driven_mi mi: Miles that the vehicles were driven on the days of the span, whoever drove and in whatever currency; null by booking, channel or
--   customer. By class and location they are those of the vehicles now, having no booking.
-- figure outside_mi mi: Of these, miles outside of any rental; null by booking, channel or customer.
-- ratio revenue_per_mi per_mi = revenue / gps_mi: Revenue for a mile that trackers saw.
-- ratio revenue_per_hour per_hour = revenue * 3600 / rented_s: Revenue for an hour on rent.
-- ratio contribution_per_mi per_mi = contribution / gps_mi: Contribution for a mile.
-- ratio contribution_per_hour per_hour = contribution * 3600 / rented_s: Contribution for an hour on rent.
-- ratio rental_mi mi = gps_mi / rentals: Miles of a rental, on average.
-- ratio gps_share percent = compared_gps_mi / odometer_mi: What trackers saw of the miles of the odometers. Far below 100, trackers
--   are silent; far above, odometers are misread.
-- ratio outside_share percent = outside_mi / driven_mi: Miles outside of rentals of all miles.
-- What a rental was, earned and drove is a fact (rental_sums), which is made of its booking and all its entries and trips; of a rental with
-- several vehicles each leg counts its own miles, and the rental is the last vehicle's. The totals are of the same reads; by tag they are
-- not, as a vehicle has many.
-- EXPLAIN indexes=1: rental_sums by account, and by day_minmax.
WITH
    (SELECT any((JSONExtract(body, 'energy_costs', 'gallon', 'amount', 'Nullable(Int64)'), JSONExtractString(body, 'energy_costs', 'gallon', 'currency')))
        FROM accounts FINAL WHERE account = {account:UInt64}) AS gallon,
    (SELECT any((JSONExtract(body, 'energy_costs', 'kwh', 'amount', 'Nullable(Int64)'), JSONExtractString(body, 'energy_costs', 'kwh', 'currency')))
        FROM accounts FINAL WHERE account = {account:UInt64}) AS kilowatt_hour,
    if(gallon.2 = {currency:String}, gallon.1, NULL) AS per_gal, if(kilowatt_hour.2 = {currency:String}, kilowatt_hour.1, NULL) AS per_kwh
SELECT s.key AS key, grouping(key) AS everything, sum(s.rentals) AS rentals, sum(s.rented_s) AS rented_s, sum(s.billed_days) AS billed_days, sum(s.revenue) AS revenue,
    sum(s.contribution) AS contribution, sum(s.gps_m) / 1609.344 AS gps_mi, sum(s.compared_m) / 1609.344 AS compared_gps_mi,
    sum(s.odometer) AS odometer_mi, sum(s.over) AS over_mi, sum(s.unbilled) AS unbilled_mi, sum(s.unbilled_fee) AS unbilled_mileage,
    sum(s.fuel) / 1000 AS missing_gal, sum(s.fuel_unbilled) / 1000 AS unbilled_gal,
    if(per_gal IS NULL, NULL, sum(s.fuel_cost)) AS unbilled_fuel, sum(s.energy) / 1000 AS missing_kwh, sum(s.energy_unbilled) / 1000 AS unbilled_kwh,
    if(per_kwh IS NULL, NULL, sum(s.energy_cost)) AS unbilled_charging,
    if({group:String} IN ('booking', 'channel', 'customer'), NULL, sum(s.driven_m) / 1609.344) AS driven_mi,
    if({group:String} IN ('booking', 'channel', 'customer'), NULL, sum(s.outside_m) / 1609.344) AS outside_mi
FROM (
    SELECT multiIf(
            {group:String} = 'total', '',
            {group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toString(t.day),
            {group:String} IN ('booking', 'vehicle', 'class', 'location', 'customer'), toString(t.number),
            {group:String} = 'channel', t.word,
            ''/*if by_traits*/ || ifNull(keys.key, '')/*end by_traits*/) AS key,
        t.rentals, t.rented_s, t.billed_days, t.revenue, t.contribution, t.gps_m, t.compared_m, t.odometer, t.over, t.unbilled, t.unbilled_fee,
        t.fuel, t.fuel_unbilled, t.fuel_cost, t.energy, t.energy_unbilled, t.energy_cost, 0 AS driven_m, 0 AS outside_m
    FROM (
        SELECT r.number AS number, r.day AS day, any(r.word) AS word, count() AS rentals, sum(r.rented_s) AS rented_s, sum(r.billed_days) AS billed_days,
            sum(r.revenue) AS revenue, sum(r.contribution) AS contribution, sum(r.gps_m) AS gps_m, sumIf(r.gps_m, r.metered) AS compared_m,
            sum(r.odometer_mi) AS odometer, sum(r.over_mi) AS over, sum(r.unbilled_mi) AS unbilled, sum(r.unbilled_fee) AS unbilled_fee, sum(r.fuel) AS fuel,
            sum(r.fuel_unbilled) AS fuel_unbilled, sum(r.fuel_cost) AS fuel_cost, sum(r.energy) AS energy, sum(r.energy_unbilled) AS energy_unbilled,
            sum(r.energy_cost) AS energy_cost
        FROM (
            WITH (
                SELECT (arrayPushBack(groupArray(id), 0), arrayPushBack(groupArray(JSONExtractFloat(body, 'fuel_capacity_gal')), 0.),
                    arrayPushBack(groupArray(JSONExtractFloat(body, 'battery_kwh')), 0.))
                FROM vehicles FINAL WHERE account = {account:UInt64}
            ) AS tanks
            SELECT
                if({group:String} IN ('day', 'week', 'month', 'quarter', 'year'), toDate32(dateTrunc(
                    if({group:String} IN ('week', 'month', 'quarter', 'year'), {group:String}, 'day'), rental_sums.day)), toDate32('1970-01-01')) AS day,
                multiIf({group:String} IN ('total', 'day', 'week', 'month', 'quarter', 'year'), 0, {group:String} = 'booking', booking,
                    {group:String} = 'class', class, {group:String} = 'location', location, {group:String} = 'customer', customer,
                    {group:String} = 'channel', cityHash64(channel), vehicle) AS number,
                if({group:String} = 'channel', toString(channel), '') AS word, rented_s, billed_days, revenue, contribution, gps_m, metered, odometer_mi, over_mi, unbilled_mi,
                unbilled_mi * extra_mile_fee AS unbilled_fee,
                toInt64(round(arraySum(m -> if(m.fuel_pct > 0, m.fuel_pct * transform(m.vehicle, tanks.1, tanks.2, 0.) * 10, 0.), missing))) AS fuel,
                toInt64(round(arraySum(m -> if(m.battery_pct > 0, m.battery_pct * transform(m.vehicle, tanks.1, tanks.3, 0.) * 10, 0.), missing))) AS energy,
                if(refuel_charged > 0, 0, fuel) AS fuel_unbilled, if(recharge_charged > 0, 0, energy) AS energy_unbilled,
                greatest(intDiv(fuel * ifNull(per_gal, 0) + 500, 1000) - greatest(refuel_charged, 0), 0) AS fuel_cost,
                greatest(intDiv(energy * ifNull(per_kwh, 0) + 500, 1000) - greatest(recharge_charged, 0), 0) AS energy_cost
            FROM rental_sums FINAL
            WHERE account = {account:UInt64} AND completed AND currency = {currency:String} AND rental_sums.day BETWEEN {from:Date32} AND {to:Date32}
                AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
                AND (empty({classes:Array(UInt64)}) OR class IN {classes:Array(UInt64)})
                AND (empty({locations:Array(UInt64)}) OR location IN {locations:Array(UInt64)})
                AND (empty({channels:Array(String)}) OR channel IN {channels:Array(String)})
                AND (empty({customers:Array(UInt64)}) OR customer IN {customers:Array(UInt64)})
                /*if chosen*/AND (empty({owners:Array(UInt64)}) AND empty({tags:Array(String)}) AND empty({makes:Array(String)}) AND empty({models:Array(String)})
                    OR vehicle IN (/*query vehicles_held*/))/*end chosen*/
        ) AS r
        GROUP BY number, day
    ) AS t
    /*if by_traits*/LEFT JOIN (/*query vehicle_keys*/) AS keys ON keys.vehicle = t.number/*end by_traits*/
    /*if by_vehicles*/UNION ALL
    SELECT key, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, driven_m, driven_m - rented_m
    FROM (/*query driven_facts*/)
    WHERE {group:String} NOT IN ('booking', 'channel', 'customer')/*end by_vehicles*/
) AS s
GROUP BY GROUPING SETS ((key), ())
HAVING count() > 0 AND ({totals:Bool} OR NOT everything)
SETTINGS do_not_merge_across_partitions_select_final = 1, use_skip_indexes_if_final_exact_mode = 1, short_circuit_function_evaluation = 'force_enable'
