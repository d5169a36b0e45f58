-- record_log to maintenance_schedules: the columns that lists filter and sort by, taken from the record.
INSERT INTO maintenance_schedules
    (account, id, revision, created_at, updated_at, archived_at, task_id, task, vehicle_id, vehicle_class_id, tag, repeat,
     fixed_due_on, intervals, paused, external_ids, body)
SELECT
    account, id, revision, created_at, at AS updated_at, archived_at,
    JSONExtractString(body, 'task_id') AS task_id,
    toUInt64OrZero(extract(JSONExtractString(body, 'task_id'), '[0-9]+')) AS task,
    JSONExtractString(body, 'vehicle_id') AS vehicle_id,
    JSONExtractString(body, 'vehicle_class_id') AS vehicle_class_id,
    JSONExtractString(body, 'tag') AS tag,
    JSONExtractString(body, 'repeat') AS repeat,
    JSONExtractString(body, 'fixed_due_on') AS fixed_due_on,
    JSONExtractInt(body, 'every_mi') > 0 OR JSONExtractInt(body, 'every_days') > 0 OR JSONExtractInt(body, 'every_months') > 0 OR JSONExtractInt(body, 'every_engine_hours') > 0 AS intervals,
    JSONExtractBool(body, 'paused') AS paused,
    arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')) AS external_ids,
    body
FROM record_log
WHERE kind = 'maintenance_schedule'
