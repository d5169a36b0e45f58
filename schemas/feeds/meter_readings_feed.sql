-- record_log to meter_readings. The kind of the meter hides that of the record, which is why the condition names the table.
INSERT INTO meter_readings
    (account, id, revision, created_at, updated_at, archived_at, vehicle_id, kind, value, recorded_at, source, source_id, voided,
     external_ids, body)
SELECT
    account, id, revision, created_at, at AS updated_at, archived_at,
    JSONExtractString(body, 'vehicle_id') AS vehicle_id,
    JSONExtractString(body, 'kind') AS kind,
    JSONExtractFloat(body, 'value') AS value,
    parseDateTime64BestEffortOrZero(JSONExtractString(body, 'recorded_at'), 3, 'UTC') AS recorded_at,
    JSONExtractString(body, 'source') AS source,
    JSONExtractString(body, 'source_id') AS source_id,
    JSONExtractBool(body, 'voided') AS voided,
    CAST([], 'Array(String)') AS external_ids,
    body
FROM record_log
WHERE record_log.kind = 'meter_reading'
