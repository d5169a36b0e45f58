-- record_log to expenses: the columns that lists filter and sort by, taken from the record.
INSERT INTO expenses
    (account, id, revision, created_at, updated_at, archived_at, status, category, vehicle_id, booking_id, vendor, description,
     amount, tax, currency, incurred_on, external_ids, body)
SELECT
    account, id, revision, created_at, at AS updated_at, archived_at,
    JSONExtractString(body, 'status') AS status,
    JSONExtractString(body, 'category') AS category,
    JSONExtractString(body, 'vehicle_id') AS vehicle_id,
    JSONExtractString(body, 'booking_id') AS booking_id,
    JSONExtractString(body, 'vendor') AS vendor,
    JSONExtractString(body, 'description') AS description,
    JSONExtractInt(body, 'amount', 'amount') AS amount,
    JSONExtractInt(body, 'tax', 'amount') AS tax,
    JSONExtractString(body, 'amount', 'currency') AS currency,
    JSONExtractString(body, 'incurred_on') AS incurred_on,
    arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')) AS external_ids,
    body
FROM record_log
WHERE kind = 'expense'
