-- Makes the days of an account's vehicles from one local date to another, of those in vehicles unless it is empty, and
-- writes what differs from what stands. now is in seconds since 1970, and what is later has not been; begins and ends are
-- the bounds of bounds, which holds the local days of each zone, '' being the account's. All that has a time is laid on the
-- days that it touches once, and what entries and billed days add is added up with that at the end: the table's comment
-- says what the columns are, and that of 5530_rental_days_currency.sql in the row of which currency they stand. of
-- accounts of the ledger: the column to which each is added, and 1 or -1. Of dates before kept the trips and charges are
-- not read, as they may be gone, and what stands of them is kept. Distances, fuel and energy are added up in thousandths
-- of a metre, a millilitre and a watt-hour, so that their sums do not depend on the order.
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
    -- when each vehicle was down; a revision of a vehicle overrules those before it from its since on, so that of those since a
    -- second, and of all that are from before the first day, the newest counts alone: so this needs no FINAL
    downs AS
    (
        SELECT vehicle, s AS since, e AS until
        FROM
        (
            SELECT vehicle, argMax(status, revision) AS status, greatest({begins:Int64}, intDiv(toUnixTimestamp64Milli(since), 1000)) AS s,
                ifNull(minOrNull(s) OVER (PARTITION BY vehicle ORDER BY max(revision) DESC
                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), {now:Int64}) AS e
            FROM vehicle_statuses
            WHERE account = {account:UInt64} AND since < fromUnixTimestamp64Milli({ends:Int64} * 1000, 'UTC')
                AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
            GROUP BY vehicle, s
        )
        WHERE status IN ('maintenance', 'out_of_service')
        UNION ALL
        SELECT toUInt64OrZero(splitByChar('_', vehicle_id)[2]) AS blocked, intDiv(toUnixTimestamp64Milli(`from`), 1000),
            intDiv(toUnixTimestamp64Milli(until), 1000)
        FROM blocks FINAL
        WHERE account = {account:UInt64} AND kind IN ('maintenance', 'repair') AND isNull(archived_at)
            AND (empty({vehicles:Array(UInt64)}) OR blocked IN {vehicles:Array(UInt64)})
    ),
    -- both, and of each the time from fresh on in which nothing before it was rented or down
    uses AS
    (
        SELECT vehicle, unit, rented, s, e,
            greatest(s, max(e) OVER (PARTITION BY vehicle ORDER BY s, e, rented, unit ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) AS fresh
        FROM
        (
            SELECT vehicle, unit, rented, greatest(since, {begins:Int64}) AS s, least(until, {ends:Int64}, {now:Int64}) AS e
            FROM
            (
                SELECT true AS rented, vehicle, unit, since, until FROM rents
                UNION ALL
                SELECT false, vehicle, '', since, until FROM downs
            )
            WHERE e > s
        )
    ),
    ways AS
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
    -- all that has a time, in seconds since 1970: rented, driven or, if it is neither, down
    things AS
    (
        SELECT vehicle, rented, false AS driven, unit, s, e, fresh, toInt64(0) AS mm, toInt64(0) AS ml, toInt64(0) AS wh
        FROM uses
        UNION ALL
        SELECT vehicle, false, true, '', s, e, e, mm, ml, 0
        FROM ways
        UNION ALL
        SELECT vehicle, false, true, '', intDiv(toUnixTimestamp64Milli(start_at), 1000) AS began, began + 1, began + 1, 0, 0,
            toInt64(round(assumeNotNull(energy_kwh) * 1000))
        FROM charges FINAL
        WHERE account = {account:UInt64} AND NOT deleted AND isNotNull(energy_kwh)
            AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
            AND start_at >= fromUnixTimestamp64Milli({begins:Int64} * 1000, 'UTC')
            AND start_at < fromUnixTimestamp64Milli({ends:Int64} * 1000, 'UTC')
    ),
    -- each thing on each day that it touches: how far midnights, the last one too, are from those of UTC says which days may be such
    (SELECT (min(begins - 86400 * toInt64(day)), max(ends - 86400 * (toInt64(day) + 1))) FROM bounds) AS midnights,
    touched AS
    (
        SELECT days.vehicle AS vehicle, days.local_date AS local_date, begins, ends, fleet_from, fleet_until, rented, driven, unit,
            s, e, fresh, mm, ml, wh
        FROM
        (
            SELECT *, toInt32(arrayJoin(range(intDiv(s - midnights.2, 86400), intDiv(e - 1 - midnights.1, 86400) + 1))) AS day
            FROM things
        ) AS t
        INNER JOIN days ON t.vehicle = days.vehicle AND t.day = days.day
        WHERE e > begins AND s < ends AND (NOT driven OR local_date >= {kept:Date32})
    ),
    -- what came together on a day; rented_s and rented_mm are by the currencies of the rentals, units. Arrays of numbers are gathered and
    -- added up in three fifths of the time that arrays of tuples, and sumMap, take
    done AS
    (
        SELECT vehicle, local_date, any(ends - begins) AS length,
            sumIf(least(e, ends) - greatest(s, begins), rented) AS busy_s,
            sum(greatest(0, least(e, fleet_until) - greatest(fresh, fleet_from))) AS down_or_rented_s,
            sumIf(greatest(0, least(e, fleet_until) - greatest(s, fleet_from)), rented) AS rented_in_fleet_s,
            sum(upto(mm, s, e, ends) - upto(mm, s, e, begins)) AS driven_mm,
            sum(upto(ml, s, e, ends) - upto(ml, s, e, begins)) AS burnt_ml,
            sum(upto(wh, s, e, ends) - upto(wh, s, e, begins)) AS charged_wh,
            groupArrayIf(unit, rented) AS out_in, groupArrayIf(greatest(s, begins), rented) AS out_from,
            groupArrayIf(least(e, ends), rented) AS out_until,
            groupArrayIf(mm, mm > 0) AS way_mm, groupArrayIf(s, mm > 0) AS way_from, groupArrayIf(e, mm > 0) AS way_until,
            arrayMap((since, until) -> arraySum((m, began, ended) -> upto(m, began, ended, until) - upto(m, began, ended, since),
                way_mm, way_from, way_until), out_from, out_until) AS out_mm,
            arrayDistinct(out_in) AS units,
            arrayMap(u -> arraySum((of, since, until) -> if(of = u, until - since, 0), out_in, out_from, out_until), units) AS rented_s,
            arrayMap(u -> arraySum((of, m) -> if(of = u, m, 0), out_in, out_mm), units) AS rented_mm
        FROM touched
        GROUP BY vehicle, local_date
    ),
    stood AS
    (
        SELECT vehicle, local_date, toString(currency) AS currency, toInt64(cityHash64(
                day_s, fleet_s, down_s, rented_s, idle_s, billed_days, driven_m, rented_m, fuel_l, energy_kwh,
                revenue_time, revenue_mileage, revenue_extras, revenue_protection, revenue_fees, revenue_damage,
                discounts, refunds, toll_recharge, platform_fees, cost_energy, cost_maintenance, cost_other_variable,
                cost_depreciation, cost_finance, cost_insurance, cost_other_fixed)) AS was,
            toUnixTimestamp64Milli(computed_at) AS made_at, local_date < {kept:Date32} AS gone, driven_m, rented_m, fuel_l, energy_kwh
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
    SELECT local_date, vehicle, unit AS currency,
        greatest(toUnixTimestamp64Milli(now64(3)), max(made_at) + 1) AS version, max(standing) AS there, sum(hash) AS was,
        toUInt32(max(length)) AS day_s, toUInt32(sum(in_fleet_s)) AS fleet_s, toUInt32(sum(down)) AS down_s,
        toUInt32(sum(rented)) AS rented_s,
        toUInt32(greatest(0, toInt64(fleet_s) - toInt64(down_s) - sum(busy))) AS idle_s,
        toUInt32(sum(billed)) AS billed_days, sum(driven_mm) / 1000 AS driven_m, sum(rented_mm) / 1000 AS rented_m,
        sum(burnt_ml) / 1000 AS fuel_l, sum(charged_wh) / 1000 AS energy_kwh,
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
        SELECT local_date, vehicle, {currency:String} AS unit, ends - begins AS length, fleet_until - fleet_from AS in_fleet_s,
            toInt64(0) AS down, toInt64(0) AS busy, toInt64(0) AS rented, toInt64(0) AS billed, toInt64(0) AS driven_mm,
            toInt64(0) AS rented_mm, toInt64(0) AS burnt_ml, toInt64(0) AS charged_wh, '' AS measure, toInt64(0) AS amount,
            false AS standing, toInt64(0) AS hash, toInt64(0) AS made_at
        FROM days
        WHERE fleet_until > fleet_from
        UNION ALL
        SELECT local_date, vehicle, of.1, of.2, 0, of.3, of.4, of.5, 0, of.6, of.7, of.8, of.9, '', 0, false, 0, 0
        FROM done
        ARRAY JOIN arrayPushFront(
            arrayMap((u, seconds, mm) -> (u, toInt64(0), toInt64(0), toInt64(0), seconds, toInt64(0), mm, toInt64(0), toInt64(0)),
                units, rented_s, rented_mm),
            ({currency:String}, toInt64(if(busy_s > 0, length, 0)), down_or_rented_s - rented_in_fleet_s, busy_s, toInt64(0), driven_mm,
                toInt64(0), burnt_ml, charged_wh)) AS of
        UNION ALL
        SELECT local_date, vehicle, if(currency = '', {currency:String}, toString(currency)), 0, 0, 0, 0, 0, billed_days, 0, 0, 0, 0, '', 0,
            false, 0, 0
        FROM rental_days FINAL
        WHERE account = {account:UInt64} AND local_date BETWEEN {from:Date32} AND {to:Date32} AND billed_days > 0
            AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
        UNION ALL
        SELECT local_date, vehicle, toString(currency), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            transform(ledger_account, {accounts:Array(String)}, {measures:Array(String)}, ''),
            amount * transform(ledger_account, {accounts:Array(String)}, {signs:Array(Int64)}, toInt64(0)), false, 0, 0
        FROM ledger_entries FINAL
        WHERE account = {account:UInt64} AND local_date BETWEEN {from:Date32} AND {to:Date32}
            AND ledger_account IN {accounts:Array(String)}
            AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
        UNION ALL
        SELECT local_date, vehicle, currency, 0, 0, 0, 0, 0, 0, gone * toInt64(round(driven_m * 1000)),
            gone * toInt64(round(rented_m * 1000)), gone * toInt64(round(fuel_l * 1000)), gone * toInt64(round(energy_kwh * 1000)), '', 0,
            true, was, made_at
        FROM stood
    )
    GROUP BY local_date, vehicle, unit
)
WHERE NOT there OR was != toInt64(cityHash64(
    day_s, fleet_s, down_s, rented_s, idle_s, billed_days, driven_m, rented_m, fuel_l, energy_kwh, revenue_time,
    revenue_mileage, revenue_extras, revenue_protection, revenue_fees, revenue_damage, discounts, refunds,
    toll_recharge, platform_fees, cost_energy, cost_maintenance, cost_other_variable, cost_depreciation,
    cost_finance, cost_insurance, cost_other_fixed))
