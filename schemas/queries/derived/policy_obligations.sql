-- What vehicles are bound by in time, of what was written since a time (ms): all of it with since 0, but for what ended more
-- than 400 days ago. From, to and done_at are ms, 0 for none; due is a local date, the earlier of two. A row that is gone binds no more.
-- A backdated booking (its no_show_at is never) whose return was over when its pickup was written down is out only once it was noted as overdue.
-- A booking may be moved for from the beginning of its buffer; it is overdue only once it was picked up; after it is back its
-- vehicle may be moved to the end of the buffer. Blocks and work orders are done by their end; nobody moves what is missing or
-- to be held. Read by query.Policies.
SELECT account, toUInt64OrZero(substring(vehicle_id, 5)) AS vehicle, 'booking' AS kind, concat('bkg_', toString(id)) AS ref, revision, updated_at,
    toUnixTimestamp64Milli(if(toUnixTimestamp64Milli(actual_pickup_at) != 0, least(actual_pickup_at, blocked_from), blocked_from)) AS from_ms,
    toUnixTimestamp64Milli(return_at) AS to_ms,
    toBool(NOT ((status = 'active' AND (return_at >= status_since OR toYear(no_show_at) < 2201 OR toUnixTimestamp64Milli(overdue_noted_at) != 0)) AS out)) AS done,
    if(status = 'completed', toUnixTimestamp64Milli(actual_return_at), if(out, 0, toUnixTimestamp64Milli(return_at))) AS done_at,
    if(status = 'completed', toUnixTimestamp64Milli(blocked_until), 0) AS after_ms, '' AS due,
    toBool(archived_at IS NOT NULL OR status NOT IN ('confirmed', 'active', 'completed')) AS gone
FROM bookings FINAL
WHERE updated_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
    AND ({since:Int64} > 0 OR status IN ('confirmed', 'active') OR status = 'completed' AND blocked_until >= fromUnixTimestamp64Milli({horizon:Int64}, 'UTC'))
UNION ALL
SELECT account, toUInt64OrZero(substring(vehicle_id, 5)), 'conflict', concat('bkg_', toString(id)), revision, updated_at,
    toUnixTimestamp64Milli(created_at), toUnixTimestamp64Milli(return_at), toBool(0), 0, 0, '',
    toBool(archived_at IS NOT NULL OR conflict != 'true' OR status NOT IN ('pending', 'confirmed', 'active'))
FROM bookings FINAL
WHERE updated_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC') AND ({since:Int64} > 0 OR conflict = 'true')
UNION ALL
SELECT account, toUInt64OrZero(substring(vehicle_id, 5)), 'booking', concat('blk_', toString(id)), revision, updated_at,
    toUnixTimestamp64Milli(`from`), toUnixTimestamp64Milli(until), toBool(1), toUnixTimestamp64Milli(until), 0, '',
    toBool(archived_at IS NOT NULL OR kind IN ('hold', 'missing'))
FROM blocks FINAL
WHERE updated_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC') AND ({since:Int64} > 0 OR until >= fromUnixTimestamp64Milli({horizon:Int64}, 'UTC'))
UNION ALL
SELECT account, toUInt64OrZero(substring(vehicle_id, 5)), 'booking', concat('wo_', toString(id)), revision, updated_at,
    toUnixTimestamp64Milli(started_at), toUnixTimestamp64Milli(completed_at), toBool(1),
    if(toUnixTimestamp64Milli(completed_at) != 0, toUnixTimestamp64Milli(completed_at), 7258118400000), 0, '',
    toBool(archived_at IS NOT NULL OR status NOT IN ('in_progress', 'on_hold', 'completed'))
FROM work_orders FINAL
WHERE updated_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
    AND ({since:Int64} > 0 OR status IN ('in_progress', 'on_hold') OR completed_at >= fromUnixTimestamp64Milli({horizon:Int64}, 'UTC'))
UNION ALL
SELECT account, vehicle, 'maintenance', concat('rem_', toString(id)), revision, updated_at,
    0, toUnixTimestamp64Milli(stage_since), toBool(stage IN ('resolved', 'dismissed')), if(stage IN ('resolved', 'dismissed'), toUnixTimestamp64Milli(stage_since), 0), 0,
    multiIf(due_on = '', forecast_due_on, forecast_due_on = '', due_on, least(due_on, forecast_due_on)),
    toBool(archived_at IS NOT NULL OR due_on = '' AND forecast_due_on = '' AND stage NOT IN ('due', 'overdue'))
FROM reminders FINAL
WHERE updated_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
    AND ({since:Int64} > 0 OR stage NOT IN ('resolved', 'dismissed') OR stage_since >= fromUnixTimestamp64Milli({horizon:Int64}, 'UTC'))
