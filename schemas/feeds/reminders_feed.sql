-- record_log to reminders: the columns that lists filter and sort by, taken from the record.
INSERT INTO reminders
    (account, id, revision, created_at, updated_at, archived_at, schedule_id, schedule, task_id, vehicle_id, vehicle, cycle, stage,
     stage_since, due_on, forecast_due_on, due_mi, due_engine_hours, snoozed_until, work_order_id, resolved_by_work_order_id,
     watch_at, watch_mi, watch_engine_hours, basis, external_ids, body)
SELECT
    account, id, revision, created_at, at AS updated_at, archived_at,
    JSONExtractString(body, 'schedule_id') AS schedule_id,
    toUInt64OrZero(extract(JSONExtractString(body, 'schedule_id'), '[0-9]+')) AS schedule,
    JSONExtractString(body, 'task_id') AS task_id,
    JSONExtractString(body, 'vehicle_id') AS vehicle_id,
    toUInt64OrZero(extract(JSONExtractString(body, 'vehicle_id'), '[0-9]+')) AS vehicle,
    toUInt32(JSONExtractInt(body, 'cycle')) AS cycle,
    JSONExtractString(body, 'stage') AS stage,
    parseDateTime64BestEffortOrZero(JSONExtractString(body, 'stage_since'), 3, 'UTC') AS stage_since,
    JSONExtractString(body, 'due_on') AS due_on,
    JSONExtractString(body, 'forecast_due_on') AS forecast_due_on,
    JSONExtract(body, 'due_mi', 'Nullable(Float64)') AS due_mi,
    JSONExtract(body, 'due_engine_hours', 'Nullable(Float64)') AS due_engine_hours,
    parseDateTime64BestEffortOrZero(JSONExtractString(body, 'snoozed_until'), 3, 'UTC') AS snoozed_until,
    JSONExtractString(body, 'work_order_id') AS work_order_id,
    JSONExtractString(body, 'resolved_by_work_order_id') AS resolved_by_work_order_id,
    parseDateTime64BestEffortOrZero(JSONExtractString(body, 'watch_at'), 3, 'UTC') AS watch_at,
    JSONExtract(body, 'watch_mi', 'Nullable(Float64)') AS watch_mi,
    JSONExtract(body, 'watch_engine_hours', 'Nullable(Float64)') AS watch_engine_hours,
    JSONExtract(body, 'basis', 'Array(UInt64)') AS basis,
    arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')) AS external_ids,
    body
FROM record_log
WHERE kind = 'reminder'
