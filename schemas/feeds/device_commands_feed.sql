-- record_log to device_commands: the columns that lists filter and sort by, taken from the record.
INSERT INTO device_commands
    (account, id, revision, created_at, updated_at, archived_at, status, type, transport, device_id, vehicle_id, requested_by,
     expires_at, try_at, status_since, external_ids, body)
SELECT
    account, id, revision, created_at, at AS updated_at, archived_at,
    JSONExtractString(body, 'status') AS status,
    JSONExtractString(body, 'type') AS type,
    JSONExtractString(body, 'transport') AS transport,
    JSONExtractString(body, 'device_id') AS device_id,
    JSONExtractString(body, 'vehicle_id') AS vehicle_id,
    JSONExtractString(body, 'requested_by') AS requested_by,
    parseDateTime64BestEffortOrZero(JSONExtractString(body, 'expires_at'), 3, 'UTC') AS expires_at,
    parseDateTime64BestEffortOrZero(JSONExtractString(body, 'try_at'), 3, 'UTC') AS try_at,
    parseDateTime64BestEffortOrZero(JSONExtractString(body, 'status_since'), 3, 'UTC') AS status_since,
    CAST([], 'Array(String)') AS external_ids,
    body
FROM record_log
WHERE kind = 'device_command'
