-- record_log to meters. The kind of the meter hides that of the record, which is why the condition names the table.
INSERT INTO meters
    (account, vehicle, kind, recorded_at, id, revision, value, source, voided)
SELECT
    account,
    toUInt64OrZero(substring(JSONExtractString(body, 'vehicle_id'), 5)) AS vehicle,
    JSONExtractString(body, 'kind') AS kind,
    parseDateTime64BestEffortOrZero(JSONExtractString(body, 'recorded_at'), 3, 'UTC') AS recorded_at,
    id, revision,
    JSONExtractFloat(body, 'value') AS value,
    JSONExtractString(body, 'source') AS source,
    JSONExtractBool(body, 'voided') AS voided
FROM record_log
WHERE record_log.kind = 'meter_reading'
