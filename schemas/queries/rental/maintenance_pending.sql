-- Which schedules and vehicles, of all accounts, the desk must look at: those that have no reminder, those whose last reminder is
-- done and whose schedule repeats, and open reminders whose day, reading, end of a snooze or change of schedule has come, or that no
-- schedule asks for any more (targeted = 0). With all = 1 every open reminder, so that forecasts keep up and meters that were
-- corrected backwards are seen. In random order, so that none is kept waiting behind others that fail.
WITH fromUnixTimestamp64Milli({now:Int64}, 'UTC') AS present
SELECT p.account AS account, p.schedule AS schedule, p.vehicle AS vehicle, toUInt8(p.targets > 0) AS targeted, p.last AS reminder, p.last_cycle AS cycle
FROM (
    SELECT account, schedule, vehicle,
        countIf(reminder = 0) AS targets, max(paused) AS resting, max(repeats) AS again, maxIf(revisions, reminder = 0) AS wanted_basis,
        argMax(reminder, cycle) AS last, max(cycle) AS last_cycle, argMax(open, cycle) AS last_open, argMax(watch_at, cycle) AS look_at,
        argMax(watch, cycle) AS look, argMax(snoozed_until, cycle) AS snoozed, argMax(basis, cycle) AS last_basis
    FROM (
        SELECT s.account AS account, s.id AS schedule, v.id AS vehicle, s.paused AS paused, s.repeats AS repeats, s.revisions AS revisions,
            toUInt64(0) AS reminder, toUInt32(0) AS cycle, false AS open, present AS watch_at,
            tuple(CAST(NULL, 'Nullable(Float64)'), CAST(NULL, 'Nullable(Float64)')) AS watch, present AS snoozed_until, [] AS basis
        FROM (
            SELECT s.account AS account, s.id AS id, s.paused AS paused, s.fixed_due_on = '' OR s.intervals AS repeats, [s.revision, t.revision] AS revisions,
                multiIf(s.vehicle_id != '', concat('v', s.vehicle_id), s.vehicle_class_id != '', concat('c', s.vehicle_class_id), concat('t', s.tag)) AS target
            FROM maintenance_schedules AS s FINAL
            INNER JOIN service_tasks AS t FINAL ON t.account = s.account AND t.id = s.task
            WHERE s.archived_at IS NULL AND (s.intervals OR s.fixed_due_on != '' OR t.intervals)
        ) AS s
        INNER JOIN (
            SELECT account, id, arrayJoin(arrayConcat([concat('v', 'veh_', toString(id)), concat('c', vehicle_class_id)], arrayMap(tag -> concat('t', tag), arrayDistinct(tags)))) AS target
            FROM vehicles FINAL
            WHERE archived_at IS NULL AND status != 'retired'
        ) AS v ON v.account = s.account AND v.target = s.target
        UNION ALL
        SELECT account, schedule, vehicle, false, false, [], id, cycle, stage NOT IN ('resolved', 'dismissed'), watch_at,
            tuple(watch_mi, watch_engine_hours), snoozed_until, basis
        FROM reminders FINAL
        WHERE archived_at IS NULL
    )
    GROUP BY account, schedule, vehicle
) AS p
LEFT JOIN (
    SELECT account, vehicle, argMaxIf(value, time, kind = 'odometer_mi') AS mi, argMaxIf(value, time, kind = 'engine_hours') AS hours
    FROM (
        SELECT account, vehicle, 'odometer_mi' AS kind, time, toNullable((toUInt64(raw_m) + base_m) / 1609.344) AS value
        FROM vehicle_mileage FINAL
        UNION ALL
        SELECT account, vehicle, 'engine_hours', time, toNullable(value / 3600)
        FROM telemetry_latest FINAL
        WHERE signal = 'engine_hours_s'
        UNION ALL
        SELECT account, vehicle, toString(kind), recorded_at, toNullable(value)
        FROM meters FINAL
        WHERE NOT voided AND kind IN ('odometer_mi', 'engine_hours') AND recorded_at BETWEEN present - INTERVAL 7 DAY AND present
    )
    GROUP BY account, vehicle
) AS m ON m.account = p.account AND m.vehicle = p.vehicle
WHERE multiIf(
    targets = 0, last_open,
    resting, false,
    NOT last_open, last = 0 OR again,
    {all:UInt8} = 1 OR last_basis != wanted_basis OR look_at > 0 AND look_at <= present OR coalesce(m.mi >= look.1, false) OR coalesce(m.hours >= look.2, false)
        OR snoozed > 0 AND snoozed <= present)
ORDER BY cityHash64(p.schedule, p.vehicle, present)
LIMIT {limit:UInt32}
