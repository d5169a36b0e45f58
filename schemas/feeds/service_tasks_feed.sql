-- record_log to service_tasks: the columns that lists filter and sort by, taken from the record.
INSERT INTO service_tasks
    (account, id, revision, created_at, updated_at, archived_at, name, category, description, intervals, external_ids, body)
SELECT
    account, id, revision, created_at, at AS updated_at, archived_at,
    JSONExtractString(body, 'name') AS name,
    JSONExtractString(body, 'category') AS category,
    JSONExtractString(body, 'description') AS description,
    JSONExtractInt(body, 'every_mi') > 0 OR JSONExtractInt(body, 'every_days') > 0 OR JSONExtractInt(body, 'every_months') > 0 OR JSONExtractInt(body, 'every_engine_hours') > 0 AS intervals,
    arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')) AS external_ids,
    body
FROM record_log
WHERE kind = 'service_task'
