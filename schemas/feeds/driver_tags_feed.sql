-- record_log to driver_tags: the columns that lists filter and sort by, taken from the record.
INSERT INTO driver_tags
    (account, id, revision, created_at, updated_at, archived_at, tag, medium, label, driver_id, external_ids, body)
SELECT
    account, id, revision, created_at, at AS updated_at, archived_at,
    JSONExtractString(body, 'tag') AS tag,
    JSONExtractString(body, 'medium') AS medium,
    JSONExtractString(body, 'label') AS label,
    arrayMap(h -> JSONExtractString(h, 'driver_id'), JSONExtractArrayRaw(body, 'holders')) AS driver_id,
    arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')) AS external_ids,
    body
FROM record_log
WHERE kind = 'driver_tag'
