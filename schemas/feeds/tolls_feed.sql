-- record_log to tolls. The kind of the toll hides that of the record, which is why the condition names the table.
INSERT INTO tolls
    (account, id, revision, created_at, updated_at, archived_at, kind, status, plate, region, agency, reference, vehicle_id,
     booking_id, currency, amount, admin_fee, occurred_at, external_ids, body)
SELECT
    account, id, revision, created_at, at AS updated_at, archived_at,
    JSONExtractString(body, 'kind') AS kind,
    JSONExtractString(body, 'status') AS status,
    JSONExtractString(body, 'plate') AS plate,
    JSONExtractString(body, 'region') AS region,
    JSONExtractString(body, 'agency') AS agency,
    JSONExtractString(body, 'reference') AS reference,
    JSONExtractString(body, 'vehicle_id') AS vehicle_id,
    JSONExtractString(body, 'booking_id') AS booking_id,
    JSONExtractString(body, 'amount', 'currency') AS currency,
    JSONExtractInt(body, 'amount', 'amount') AS amount,
    JSONExtractInt(body, 'admin_fee', 'amount') AS admin_fee,
    ifNull(parseDateTime64BestEffortOrNull(JSONExtractString(body, 'occurred_at'), 3, 'UTC'), toDateTime64(0, 3, 'UTC')) AS occurred_at,
    arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')) AS external_ids,
    body
FROM record_log
WHERE record_log.kind = 'toll'
