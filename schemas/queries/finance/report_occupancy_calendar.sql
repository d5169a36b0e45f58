-- report: Occupancy calendar
-- about: What each vehicle does on each day: rented, booked for a rental that has not begun, blocked, or free; by vehicle and day
--   with the booking, or counted. Only vehicles that are in the fleet on the day.
-- bases: accrual
-- groups: calendar vehicle class location make model owner tag total day week month
-- figure state text: rented, booked, blocked or free; by vehicle and day alone.
-- figure booking_id text: The booking; of several on one day the first.
-- figure rented count: Days on which a vehicle was out, if only in part.
-- figure booked count: Days of confirmed bookings that have not begun, or go on beyond today, and on which it was not out yet.
-- figure blocked count: Other days of a block, or on which it was down for maintenance.
-- figure free count: All other days.
-- figure vehicle_days count: Days in the fleet.
-- ratio occupancy percent = rented / vehicle_days: Days on which it was out of all.
-- ratio taken percent = occupied / vehicle_days: Days on which it was out, or is booked.
-- figure occupied count: Rented and booked days.
-- Each vehicle is looked at on each day: more than two million of them, or two hundred thousand where each is a row, are refused by throwIf,
-- which the program says in words.
-- Days are those of the account's zone, but what was rented, which is by the local days of facts. EXPLAIN indexes=1:
-- rental_days and vehicle_days by account and local_date, bookings, blocks and vehicles by account.
WITH
    cars AS (
        SELECT vehicle,
            coalesce(toDate32OrNull(in_service_on), toDate32OrNull(acquired_on)) AS said,
            ifNull(said, toDate32(toTimeZone(created_at, {zone:String}))) AS came_on,
            least(ifNull(toDate32OrNull(disposal_on), toDate32('2299-12-31')),
                if(toDate32OrNull(out_of_service_on) > ifNull(said, toDate32('1900-01-01')), toDate32OrZero(out_of_service_on), toDate32('2299-12-31')),
                ifNull(toDate32(toTimeZone(archived_at, {zone:String})) + 1, toDate32('2299-12-31'))) AS gone_on
        FROM vehicle_traits
        INNER JOIN (SELECT id, created_at, archived_at FROM vehicles FINAL WHERE account = {account:UInt64}) AS v ON v.id = vehicle
        WHERE account = {account:UInt64} AND status != 'retired'
            AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
            AND vehicle IN (/*query vehicles_chosen*/)
    ),
    grid AS (
        SELECT vehicle, arrayJoin(arrayMap(i -> {from:Date32} + i, range(toUInt32(dateDiff('day', {from:Date32}, {to:Date32})) + 1))) AS on_day
        FROM cars
        WHERE NOT throwIf((SELECT count() FROM cars) * (dateDiff('day', {from:Date32}, {to:Date32}) + 1) > if({by:String} = 'calendar', 200000, 2000000))
            AND on_day >= came_on AND on_day < gone_on
    ),
    taken AS (
        SELECT vehicle, local_date AS on_day, 3 AS rank, booking AS what
        FROM rental_days FINAL
        WHERE account = {account:UInt64} AND local_date BETWEEN {from:Date32} AND {to:Date32} AND rented_s > 0 AND vehicle != 0
        UNION ALL
        SELECT toUInt64OrZero(splitByChar('_', CAST(vehicle_id, 'String'))[2]) AS car, arrayJoin(arrayMap(i -> first + i,
            range(toUInt32(greatest(0, dateDiff('day', first, last) + 1))))) AS on_day, 2, id
        FROM (
            SELECT id, vehicle_id, greatest(toDate32(toTimeZone(pickup_at, {zone:String})), {today:Date32}, {from:Date32}) AS first,
                least(toDate32(toTimeZone(return_at - 0.001, {zone:String})), {to:Date32}) AS last
            FROM bookings FINAL
            WHERE account = {account:UInt64} AND status IN ('confirmed', 'active') AND vehicle_id != '' AND archived_at IS NULL
        )
        UNION ALL
        SELECT toUInt64OrZero(splitByChar('_', vehicle_id)[2]) AS car, arrayJoin(arrayMap(i -> first + i,
            range(toUInt32(greatest(0, dateDiff('day', first, last) + 1))))) AS on_day, 1, 0
        FROM (
            SELECT vehicle_id, greatest(toDate32(toTimeZone(`from`, {zone:String})), {from:Date32}) AS first,
                least(toDate32(toTimeZone(until - 0.001, {zone:String})), {to:Date32}) AS last
            FROM blocks FINAL
            WHERE account = {account:UInt64} AND archived_at IS NULL
        )
        UNION ALL
        SELECT vehicle, local_date, 1, 0
        FROM vehicle_days FINAL
        WHERE account = {account:UInt64} AND local_date BETWEEN {from:Date32} AND {to:Date32} AND down_s > 0 AND vehicle != 0
    )
SELECT
    if({group:String} = 'calendar', concat('veh_', toString(d.car), ' ', toString(d.began)), if({group:String} IN ('day', 'week', 'month'),
        toString(d.began), if({group:String} = 'vehicle', toString(d.car), if({group:String} = 'total', '', ''/*if by_traits*/ || ifNull(keys.key, '')/*end by_traits*/)))) AS key,
    if({group:String} = 'calendar', ['free', 'blocked', 'booked', 'rented'][max(d.rank) + 1], NULL) AS state,
    if({group:String} = 'calendar' AND max(d.what) != 0, concat('bkg_', toString(max(d.what))), NULL) AS booking_id,
    sum(d.rented) AS rented, sum(d.booked) AS booked, sum(d.blocked) AS blocked, vehicle_days - rented - booked - blocked AS free,
    sum(d.there) AS vehicle_days, rented + booked AS occupied
FROM (
    SELECT
        if({group:String} IN ('calendar', 'day', 'week', 'month'), toDate32(dateTrunc(
            if({group:String} IN ('week', 'month'), {group:String}, 'day'), on_day)), toDate32('1970-01-01')) AS began,
        if({group:String} IN ('total', 'day', 'week', 'month'), 0, vehicle) AS car,
        max(c.rank) AS rank, max(c.what) AS what, countIf(c.rank = 3) AS rented, countIf(c.rank = 2) AS booked, countIf(c.rank = 1) AS blocked,
        sum(c.there) AS there
    FROM (
        SELECT vehicle, on_day, max(t.rank) AS rank, if(rank = 3, minIf(t.what, t.rank = 3), minIf(t.what, t.rank = 2)) AS what, 0 AS there
        FROM taken AS t
        INNER JOIN cars ON cars.vehicle = t.vehicle
        WHERE on_day >= came_on AND on_day < gone_on
        GROUP BY vehicle, on_day
        UNION ALL
        SELECT vehicle, on_day, 0, 0, 1 FROM grid
    ) AS c
    GROUP BY began, car
) AS d
/*if by_traits*/LEFT JOIN (/*query vehicle_keys*/) AS keys ON keys.vehicle = d.car/*end by_traits*/
GROUP BY key
SETTINGS do_not_merge_across_partitions_select_final = 1
