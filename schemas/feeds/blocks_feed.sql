-- record_log to blocks. The kind of the block hides that of the record, which is why the condition names the table.
INSERT INTO blocks
    (account, id, revision, created_at, updated_at, archived_at, vehicle_id, `from`, until, kind, reason, source_id, external_ids,
     body)
SELECT
    account, id, revision, created_at, at AS updated_at, archived_at,
    JSONExtractString(body, 'vehicle_id') AS vehicle_id,
    parseDateTime64BestEffortOrZero(JSONExtractString(body, 'from'), 3, 'UTC') AS `from`,
    parseDateTime64BestEffortOrZero(JSONExtractString(body, 'until'), 3, 'UTC') AS until,
    JSONExtractString(body, 'kind') AS kind,
    JSONExtractString(body, 'reason') AS reason,
    JSONExtractString(body, 'source_id') AS source_id,
    CAST([], 'Array(String)') AS external_ids,
    body
FROM record_log
WHERE record_log.kind = 'block'
