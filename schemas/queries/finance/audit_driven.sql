-- Audit: what vehicle_days say was driven, burnt and charged against trips and charges, by vehicle and local day of one month: in
-- millimetres, millilitres and watt-hours. A trip that passes midnight is divided in proportion to time, a charge is of the day on which
-- it began. A midnight is worked out of the offsets of a day before and a day after it: where both are right it came twice and the first
-- counts, where none is the clocks jumped over it and that of before says when. Days with a trip or charge that was written since {until} are
-- left out, vehicles whose days may have become others since, those of which the account may keep none any more, and accounts of which no facts were ever made. Of a way of more than 62 days its first 62 have
-- everything, as facts_vehicles says. EXPLAIN indexes=1: trips by end_at_minmax and the partitions from 63 days before, the others by those
-- of the month.
WITH
    (at, zone) -> toInt64(toUnixTimestamp(toDateTime(formatDateTime(toDateTime(at, 'UTC'), '%F %T', zone), 'UTC'))) - at AS offset,
    (at, first, second, zone) -> at - if(offset(at - first, zone) != first AND offset(at - second, zone) = second, second, first) AS valid,
    (day, zone) -> valid(toInt64(day) * 86400, offset(toInt64(day) * 86400 - 86400, zone), offset(toInt64(day) * 86400 + 86400, zone), zone) AS midnight,
    (amount, s, e, at) -> multiIf(at >= e, amount, at <= s, 0, intDiv(amount * (at - s), e - s)) AS upto,
    addMonths({month:Date32}, 1) AS next,
    cars AS
    (
        SELECT v.account AS account, v.id AS vehicle,
            coalesce(nullIf(JSONExtractString(v.body, 'timezone'), ''), nullIf(toString(a.timezone), ''), 'UTC') AS zone,
            if(a.retention_days = 0, toDate32('1970-01-01'), toDate32(fromUnixTimestamp64Milli({now:Int64}, 'UTC')) - a.retention_days + 9) AS kept
        FROM vehicles AS v FINAL
        INNER JOIN accounts AS a FINAL ON a.id = v.account
        WHERE v.account IN (SELECT DISTINCT account FROM vehicle_days) AND (v.account, v.id) NOT IN (/*query vehicles_rezoned*/)
    )
SELECT account, measure AS what, concat(toString(local_date), ' veh_', toString(vehicle)) AS key, 'vehicle' AS kind, vehicle AS id,
    toString(local_date) AS day, sum(recorded) AS expected, sum(stands) AS found
FROM
(
    SELECT account, vehicle, toDate32(on) AS local_date, added.1 AS measure, added.2 AS recorded, toInt64(0) AS stands, updated_at AS at
    FROM
    (
        SELECT account, vehicle, updated_at, zone, intDiv(toUnixTimestamp64Milli(start_at), 1000) AS s,
            least(s + 62 * 86400, greatest(s + 1, intDiv(toUnixTimestamp64Milli(end_at), 1000))) AS e, if(deleted, 0, toInt64(round(distance_m * 1000))) AS mm,
            if(deleted, 0, toInt64(round(JSONExtractFloat(body, 'fuel_used_l') * 1000))) AS ml,
            toInt32(toDate32(formatDateTime(start_at, '%F', zone))) AS first,
            toInt32(toDate32(formatDateTime(toDateTime(e - 1, 'UTC'), '%F', zone))) AS last,
            arrayJoin(range(first, last + 1)) AS on,
            if(on = first, s, midnight(on, zone)) AS begins, if(on = last, e, midnight(on + 1, zone)) AS ends
        FROM trips FINAL INNER JOIN cars USING (account, vehicle)
        WHERE end_at >= toDateTime64({month:Date32}, 3, 'UTC') - INTERVAL 1 DAY
            AND start_at >= toDateTime64({month:Date32}, 3, 'UTC') - INTERVAL 63 DAY AND start_at < toDateTime64(next, 3, 'UTC') + INTERVAL 1 DAY
    )
    ARRAY JOIN [('driven_mm', upto(mm, s, e, ends) - upto(mm, s, e, begins)), ('fuel_ml', upto(ml, s, e, ends) - upto(ml, s, e, begins))] AS added
    UNION ALL
    SELECT account, vehicle, toDate32(formatDateTime(start_at, '%F', zone)), 'energy_wh',
        if(deleted, 0, toInt64(round(ifNull(energy_kwh, 0) * 1000))), 0, updated_at
    FROM charges FINAL INNER JOIN cars USING (account, vehicle)
    WHERE start_at >= toDateTime64({month:Date32}, 3, 'UTC') - INTERVAL 1 DAY AND start_at < toDateTime64(next, 3, 'UTC') + INTERVAL 1 DAY
    UNION ALL
    SELECT account, vehicle, local_date, column.1, 0, toInt64(round(column.2 * 1000)), toDateTime64(0, 3, 'UTC')
    FROM vehicle_days FINAL
    ARRAY JOIN [('driven_mm', driven_m), ('fuel_ml', fuel_l), ('energy_wh', energy_kwh)] AS column
    WHERE local_date >= {month:Date32} AND local_date < next AND column.2 != 0
) AS d
INNER JOIN cars ON cars.account = d.account AND cars.vehicle = d.vehicle
WHERE local_date >= {month:Date32} AND local_date < next AND local_date >= kept
GROUP BY account, vehicle, local_date, measure
HAVING expected != found AND max(at) < fromUnixTimestamp64Milli({until:Int64}, 'UTC')
ORDER BY account, key, what
LIMIT {limit:UInt32} BY account
SETTINGS do_not_merge_across_partitions_select_final = 1
