-- Makes the days of an account's vehicles in geofences from one local date to another, of those in vehicles unless it is
-- empty, and writes what differs from what stands. Of dates before kept nothing is made again, as visits may be gone. A
-- visit is laid on the days that it touches, in the zone that its vehicle has now, of which zone_days tells the midnights.
-- With FINAL an index on end_at skips nothing that its key may replace, so the months of visits that may end late enough are
-- looked up without it. EXPLAIN indexes=1: visits by account, these months and, where vehicles are named, vehicle, and for
-- the months by end_at_minmax; geofence_days by account and date.
INSERT INTO geofence_days (account, local_date, vehicle, geofence, computed_at, stays, visits, inside_s, visit_s)
WITH (/*query vehicle_zones*/) AS zones
SELECT {account:UInt64}, local_date, vehicle, geofence,
    fromUnixTimestamp64Milli(greatest(toUnixTimestamp64Milli(now64(3)), made_at + 1), 'UTC'), stays, visits, inside_s, visit_s
FROM
(
    SELECT local_date, vehicle, geofence, sum(d.was) AS was, max(d.made_at) AS made_at, toUInt32(sum(d.stays)) AS stays,
        toUInt32(sum(d.visits)) AS visits, toInt64(sum(d.inside_s)) AS inside_s, toInt64(sum(d.visit_s)) AS visit_s
    FROM
    (
        SELECT days.day AS local_date, vehicle, geofence, toUInt64(0) AS was, toInt64(0) AS made_at, toUInt64(1) AS stays,
            toUInt64(start_ms >= begins_ms) AS visits,
            least(end_s, intDiv(ends_ms, 1000)) - greatest(start_s, intDiv(begins_ms, 1000)) AS inside_s,
            if(start_ms >= begins_ms, end_s - start_s, 0) AS visit_s
        FROM
        (
            SELECT vehicle, geofence, toUnixTimestamp64Milli(start_at) AS start_ms, toUnixTimestamp64Milli(end_at) AS end_ms,
                intDiv(start_ms + 500, 1000) AS start_s, intDiv(end_ms + 500, 1000) AS end_s,
                transform(vehicle, zones.1, zones.2, zones.2[-1]) AS zone,
                arrayJoin(range(toInt32(greatest(toDate32(start_at) - 1, {from:Date32})), toInt32(least(toDate32(end_at) + 1, {to:Date32})) + 1)) AS on
            FROM visits FINAL
            WHERE account = {account:UInt64} AND NOT deleted
                AND end_at >= toDateTime64({from:Date32}, 3, 'UTC') - INTERVAL 1 DAY
                AND start_at < toDateTime64({to:Date32}, 3, 'UTC') + INTERVAL 2 DAY
                AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
                AND toYYYYMM(start_at) IN (
                    SELECT DISTINCT toYYYYMM(start_at) FROM visits
                    WHERE account = {account:UInt64} AND end_at >= toDateTime64({from:Date32}, 3, 'UTC') - INTERVAL 1 DAY
                        AND start_at < toDateTime64({to:Date32}, 3, 'UTC') + INTERVAL 2 DAY)
        ) AS v
        INNER JOIN (/*query zone_days*/) AS days ON days.zone = v.zone AND days.on = v.on
        WHERE start_ms < ends_ms AND (end_ms > begins_ms OR start_ms >= begins_ms)
        UNION ALL
        SELECT local_date, vehicle, geofence, cityHash64(stays, visits, inside_s, visit_s), toUnixTimestamp64Milli(computed_at),
            0, 0, 0, 0
        FROM geofence_days FINAL
        WHERE account = {account:UInt64} AND local_date BETWEEN {from:Date32} AND {to:Date32}
            AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
    ) AS d
    WHERE local_date BETWEEN {from:Date32} AND {to:Date32} AND local_date >= {kept:Date32}
    GROUP BY local_date, vehicle, geofence
)
WHERE was != cityHash64(stays, visits, inside_s, visit_s)
SETTINGS do_not_merge_across_partitions_select_final = 1
