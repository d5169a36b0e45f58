-- Makes the days of an account's vehicles from one local date to another, of those in vehicles unless it is empty, and
-- writes what differs from what stands. now is in seconds since 1970, and what is later has not been; begins and ends are
-- the bounds of bounds, which holds the local days of each zone, '' being the account's. What each thing adds to a column
-- is found on its own, and added up at the end: the table's comment says what the columns are, and that of
-- 5530_rental_days_currency.sql in the row of which currency they stand. of accounts of the ledger: the column to which
-- each is added, and 1 or -1. Of dates before kept the trips and charges are not read, as
-- they may be gone, and what stands of them is kept. Distances, fuel and energy are added up in thousandths of a metre,
-- a millilitre and a watt-hour, so that their sums do not depend on the order.
-- A way that nobody saw may be as long as a tracker was silent. One of more than 62 days counts on its first 62, with all
-- that it came to, as nobody knows on which of them it was driven: so trips of the two months before are enough.
-- EXPLAIN indexes=1: rental_days, ledger_entries and vehicle_days by account and date, trips and charges by account, month
-- and, where vehicles are named, vehicle, trips by end_at_minmax too; vehicle_statuses and vehicles by account and vehicle.
-- External: bounds (zone String, day Int32, begins Int64, ends Int64)
INSERT INTO vehicle_days (account, local_date, vehicle, currency, computed_at, day_s, fleet_s, down_s, rented_s, idle_s,
    billed_days, driven_m, rented_m, fuel_l, energy_kwh, revenue_time, revenue_mileage, revenue_extras,
    revenue_protection, revenue_fees, revenue_damage, discounts, refunds, toll_recharge, platform_fees, cost_energy,
    cost_maintenance, cost_other_variable, cost_depreciation, cost_finance, cost_insurance, cost_other_fixed)
WITH
    -- how much of an amount that comes together from s to e has done so at an instant
    (amount, s, e, at) -> multiIf(at >= e, amount, at <= s, 0, intDiv(amount * (at - s), e - s)) AS upto,
    cars AS
    (
        SELECT id AS vehicle, JSONExtract(body, 'Tuple(timezone String, in_service_on String, acquired_on String,
                disposal_on String, out_of_service_on String)') AS said,
            said.1 AS zone,
            coalesce(toDate32OrNull(said.2), toDate32OrNull(said.3)) AS came_on,
            intDiv(toUnixTimestamp64Milli(created_at), 1000) AS made_at,
            toDate32OrNull(said.5) AS out_on,
            least(ifNull(toDate32OrNull(said.4), toDate32('2299-12-31')),
                if(out_on > ifNull(came_on, toDate32('1900-01-01')), assumeNotNull(out_on), toDate32('2299-12-31')))
                AS gone_on,
            least({now:Int64}, ifNull(intDiv(toUnixTimestamp64Milli(archived_at), 1000), {now:Int64})) AS over_at
        FROM vehicles FINAL
        WHERE account = {account:UInt64} AND (empty({vehicles:Array(UInt64)}) OR id IN {vehicles:Array(UInt64)})
    ),
    days AS
    (
        SELECT vehicle, toDate32(day) AS local_date, bounds.zone AS zone, day, begins, ends,
            multiIf(isNull(came_on), greatest(begins, made_at), local_date < assumeNotNull(came_on), ends, begins)
                AS fleet_from,
            greatest(fleet_from, if(local_date >= gone_on, begins, least(ends, over_at))) AS fleet_until
        FROM cars INNER JOIN bounds ON cars.zone = bounds.zone
    ),
    -- when each vehicle was out, each moment once, and in which currency it was rented
    rents AS
    (
        SELECT vehicle, unit, greatest(s, before) AS since, e AS until
        FROM
        (
            SELECT vehicle, if(currency = '', {currency:String}, toString(currency)) AS unit, spell.1 AS s, spell.2 AS e,
                max(e) OVER (PARTITION BY vehicle ORDER BY s, e, unit ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
                    AS before
            FROM rental_days FINAL ARRAY JOIN spells AS spell
            WHERE account = {account:UInt64} AND local_date BETWEEN {from:Date32} - 2 AND {to:Date32} + 2
                AND vehicle != 0 AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
        )
        WHERE until > since
    ),
    -- when each vehicle was down; a revision of a vehicle overrules those before it from its since on
    downs AS
    (
        SELECT vehicle, s AS since, e AS until
        FROM
        (
            SELECT vehicle, status, intDiv(toUnixTimestamp64Milli(since), 1000) AS s,
                ifNull(minOrNull(s) OVER (PARTITION BY vehicle ORDER BY revision DESC
                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), {now:Int64}) AS e
            FROM vehicle_statuses FINAL
            WHERE account = {account:UInt64} AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
        )
        WHERE status IN ('maintenance', 'out_of_service')
        UNION ALL
        SELECT toUInt64OrZero(splitByChar('_', vehicle_id)[2]) AS blocked, intDiv(toUnixTimestamp64Milli(`from`), 1000),
            intDiv(toUnixTimestamp64Milli(until), 1000)
        FROM blocks FINAL
        WHERE account = {account:UInt64} AND kind IN ('maintenance', 'repair') AND isNull(archived_at)
            AND (empty({vehicles:Array(UInt64)}) OR blocked IN {vehicles:Array(UInt64)})
    ),
    uses AS
    (
        SELECT vehicle, unit, rented, greatest(since, {begins:Int64}) AS s, least(until, {ends:Int64}, {now:Int64}) AS e
        FROM
        (
            SELECT true AS rented, vehicle, unit, since, until FROM rents
            UNION ALL
            SELECT false, vehicle, '', since, until FROM downs
        )
        WHERE e > s
    ),
    trips_of AS
    (
        SELECT vehicle, intDiv(toUnixTimestamp64Milli(start_at), 1000) AS s,
            least(s + 62 * 86400, greatest(s + 1, intDiv(toUnixTimestamp64Milli(end_at), 1000))) AS e,
            toInt64(round(distance_m * 1000)) AS mm, toInt64(round(JSONExtractFloat(body, 'fuel_used_l') * 1000)) AS ml
        FROM trips FINAL
        WHERE account = {account:UInt64} AND NOT deleted
            AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
            AND start_at >= fromUnixTimestamp64Milli(({begins:Int64} - 62 * 86400) * 1000, 'UTC')
            AND end_at >= fromUnixTimestamp64Milli({begins:Int64} * 1000, 'UTC')
            AND start_at < fromUnixTimestamp64Milli({ends:Int64} * 1000, 'UTC')
    ),
    -- what is added to which column of which currency, of things that are no money; busy_s is all that was rented
    done AS
    (
        SELECT vehicle, local_date, arrayJoin([({currency:String}, 'day_s', ends - begins),
                ({currency:String}, 'fleet_s', fleet_until - fleet_from)]) AS added
        FROM days
        WHERE fleet_until > fleet_from
        UNION ALL
        SELECT vehicle, local_date,
            arrayJoin(arrayConcat([({currency:String}, 'day_s', if(rented_s > 0, length, 0)), ({currency:String}, 'busy_s', rented_s),
                    ({currency:String}, 'down_s', down_or_rented_s - rented_in_fleet_s)],
                arrayMap((u, n) -> (u, 'rented_s', n), rented_in.1, rented_in.2)))
        FROM
        (
            SELECT days.vehicle AS vehicle, local_date, any(ends - begins) AS length,
                sumIf(least(e, ends) - greatest(s, begins), rented) AS rented_s,
                sumMapIf([unit], [least(e, ends) - greatest(s, begins)], rented) AS rented_in,
                toInt64(intervalLengthSumIf(greatest(s, fleet_from), least(e, fleet_until),
                    least(e, fleet_until) > greatest(s, fleet_from))) AS down_or_rented_s,
                toInt64(intervalLengthSumIf(greatest(s, fleet_from), least(e, fleet_until),
                    rented AND least(e, fleet_until) > greatest(s, fleet_from))) AS rented_in_fleet_s
            FROM
            (
                SELECT vehicle, unit, rented, s, e, toInt32(arrayJoin(range(intDiv(s, 86400) - 1, intDiv(e, 86400) + 2))) AS day
                FROM uses
            ) AS uses INNER JOIN days ON uses.vehicle = days.vehicle AND uses.day = days.day
            WHERE e > begins AND s < ends
            GROUP BY vehicle, local_date
        )
        UNION ALL
        SELECT vehicle, local_date, (if(currency = '', {currency:String}, toString(currency)) AS unit, 'billed_days', toInt64(sum(billed_days)))
        FROM rental_days FINAL
        WHERE account = {account:UInt64} AND local_date BETWEEN {from:Date32} AND {to:Date32}
            AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
        GROUP BY vehicle, local_date, unit
        HAVING sum(billed_days) > 0
        UNION ALL
        SELECT vehicle, local_date, arrayJoin(arrayConcat([({currency:String}, 'driven_m', driven), ({currency:String}, 'fuel_l', burnt)],
            arrayMap((u, n) -> (u, 'rented_m', n), rented_in.1, rented_in.2)))
        FROM
        (
            SELECT vehicle, local_date, sum(upto(mm, s, e, ends) - upto(mm, s, e, begins)) AS driven,
                sum(upto(ml, s, e, ends) - upto(ml, s, e, begins)) AS burnt,
                sumMap(arrayMap(r -> r.3, met), arrayMap(r -> upto(mm, s, e, least(ends, r.2)) - upto(mm, s, e, greatest(begins, r.1)), met))
                    AS rented_in
            FROM
            (
                SELECT days.vehicle AS vehicle, days.local_date AS local_date, s, e, mm, ml, begins, ends,
                    arrayFilter(r -> r.2 > greatest(s, begins) AND r.1 < least(e, ends), rented_at) AS met
                FROM
                (
                    SELECT *, toInt32(arrayJoin(range(intDiv(s, 86400) - 1, intDiv(e, 86400) + 2))) AS day FROM trips_of
                ) AS t
                INNER JOIN days ON t.vehicle = days.vehicle AND t.day = days.day
                LEFT JOIN (SELECT vehicle, groupArray((since, until, unit)) AS rented_at FROM rents GROUP BY vehicle) AS r
                    ON r.vehicle = t.vehicle
                WHERE e > begins AND s < ends AND local_date >= {kept:Date32}
            )
            GROUP BY vehicle, local_date
        )
        UNION ALL
        SELECT vehicle, local_date, ({currency:String}, 'energy_kwh', sum(wh))
        FROM
        (
            SELECT days.vehicle AS vehicle, days.local_date AS local_date, wh
            FROM
            (
                SELECT vehicle, intDiv(toUnixTimestamp64Milli(start_at), 1000) AS s, toInt64(round(assumeNotNull(energy_kwh) * 1000)) AS wh,
                    toInt32(arrayJoin(range(intDiv(s, 86400) - 1, intDiv(s, 86400) + 2))) AS day
                FROM charges FINAL
                WHERE account = {account:UInt64} AND NOT deleted AND isNotNull(energy_kwh)
                    AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
                    AND start_at >= fromUnixTimestamp64Milli({begins:Int64} * 1000, 'UTC')
                    AND start_at < fromUnixTimestamp64Milli({ends:Int64} * 1000, 'UTC')
            ) AS c INNER JOIN days ON c.vehicle = days.vehicle AND c.day = days.day
            WHERE s >= begins AND s < ends AND local_date >= {kept:Date32}
        )
        GROUP BY vehicle, local_date
    ),
    stood AS
    (
        SELECT vehicle, local_date, toString(currency) AS currency, toInt64(cityHash64(
                day_s, fleet_s, down_s, rented_s, idle_s, billed_days, driven_m, rented_m, fuel_l, energy_kwh,
                revenue_time, revenue_mileage, revenue_extras, revenue_protection, revenue_fees, revenue_damage,
                discounts, refunds, toll_recharge, platform_fees, cost_energy, cost_maintenance, cost_other_variable,
                cost_depreciation, cost_finance, cost_insurance, cost_other_fixed)) AS was,
            toUnixTimestamp64Milli(computed_at) AS made_at, driven_m, rented_m, fuel_l, energy_kwh
        FROM vehicle_days FINAL
        WHERE account = {account:UInt64} AND local_date BETWEEN {from:Date32} AND {to:Date32}
            AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
    )
SELECT {account:UInt64}, local_date, vehicle, currency, fromUnixTimestamp64Milli(version, 'UTC'),
    day_s, fleet_s, down_s, rented_s, idle_s, billed_days, driven_m, rented_m, fuel_l, energy_kwh, revenue_time,
    revenue_mileage, revenue_extras, revenue_protection, revenue_fees, revenue_damage, discounts, refunds,
    toll_recharge, platform_fees, cost_energy, cost_maintenance, cost_other_variable, cost_depreciation,
    cost_finance, cost_insurance, cost_other_fixed
FROM
(
    SELECT local_date, vehicle, currency,
        greatest(toUnixTimestamp64Milli(now64(3)), maxIf(amount, measure = 'made_at') + 1) AS version,
        countIf(measure = 'was') > 0 AS there, sumIf(amount, measure = 'was') AS was,
        toUInt32(maxIf(amount, measure = 'day_s')) AS day_s,
        toUInt32(sumIf(amount, measure = 'fleet_s')) AS fleet_s,
        toUInt32(sumIf(amount, measure = 'down_s')) AS down_s,
        toUInt32(sumIf(amount, measure = 'rented_s')) AS rented_s,
        toUInt32(greatest(0, toInt64(fleet_s) - toInt64(down_s) - sumIf(amount, measure = 'busy_s'))) AS idle_s,
        toUInt32(sumIf(amount, measure = 'billed_days')) AS billed_days,
        sumIf(amount, measure = 'driven_m') / 1000 AS driven_m,
        sumIf(amount, measure = 'rented_m') / 1000 AS rented_m,
        sumIf(amount, measure = 'fuel_l') / 1000 AS fuel_l,
        sumIf(amount, measure = 'energy_kwh') / 1000 AS energy_kwh,
        sumIf(amount, measure = 'revenue_time') AS revenue_time,
        sumIf(amount, measure = 'revenue_mileage') AS revenue_mileage,
        sumIf(amount, measure = 'revenue_extras') AS revenue_extras,
        sumIf(amount, measure = 'revenue_protection') AS revenue_protection,
        sumIf(amount, measure = 'revenue_fees') AS revenue_fees,
        sumIf(amount, measure = 'revenue_damage') AS revenue_damage,
        sumIf(amount, measure = 'discounts') AS discounts,
        sumIf(amount, measure = 'refunds') AS refunds,
        sumIf(amount, measure = 'toll_recharge') AS toll_recharge,
        sumIf(amount, measure = 'platform_fees') AS platform_fees,
        sumIf(amount, measure = 'cost_energy') AS cost_energy,
        sumIf(amount, measure = 'cost_maintenance') AS cost_maintenance,
        sumIf(amount, measure = 'cost_other_variable') AS cost_other_variable,
        sumIf(amount, measure = 'cost_depreciation') AS cost_depreciation,
        sumIf(amount, measure = 'cost_finance') AS cost_finance,
        sumIf(amount, measure = 'cost_insurance') AS cost_insurance,
        sumIf(amount, measure = 'cost_other_fixed') AS cost_other_fixed
    FROM
    (
        SELECT local_date, vehicle, added.1 AS currency, added.2 AS measure, added.3 AS amount FROM done
        UNION ALL
        SELECT local_date, vehicle, toString(currency),
            transform(ledger_account, {accounts:Array(String)}, {measures:Array(String)}, '') AS measure,
            sum(amount * transform(ledger_account, {accounts:Array(String)}, {signs:Array(Int64)}, toInt64(0)))
        FROM ledger_entries FINAL
        WHERE account = {account:UInt64} AND local_date BETWEEN {from:Date32} AND {to:Date32}
            AND ledger_account IN {accounts:Array(String)}
            AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
        GROUP BY local_date, vehicle, currency, measure
        UNION ALL
        SELECT local_date, vehicle, currency, added.1, added.2
        FROM stood ARRAY JOIN [('was', was), ('made_at', made_at)] AS added
        UNION ALL
        SELECT local_date, vehicle, currency, added.1, toInt64(round(added.2 * 1000))
        FROM stood
        ARRAY JOIN [('driven_m', driven_m), ('rented_m', rented_m), ('fuel_l', fuel_l), ('energy_kwh', energy_kwh)] AS added
        WHERE local_date < {kept:Date32} AND added.2 != 0
    )
    GROUP BY local_date, vehicle, currency
)
WHERE NOT there OR was != toInt64(cityHash64(
    day_s, fleet_s, down_s, rented_s, idle_s, billed_days, driven_m, rented_m, fuel_l, energy_kwh, revenue_time,
    revenue_mileage, revenue_extras, revenue_protection, revenue_fees, revenue_damage, discounts, refunds,
    toll_recharge, platform_fees, cost_energy, cost_maintenance, cost_other_variable, cost_depreciation,
    cost_finance, cost_insurance, cost_other_fixed))
