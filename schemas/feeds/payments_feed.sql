-- record_log to payments: the columns that lists filter and sort by, taken from the record.
INSERT INTO payments
    (account, id, revision, created_at, updated_at, archived_at, status, direction, method, provider, provider_ref, booking_id,
     customer_id, vehicle_id, amount, refunded, fee, currency, received_at, external_ids, body)
SELECT
    account, id, revision, created_at, at AS updated_at, archived_at,
    JSONExtractString(body, 'status') AS status,
    JSONExtractString(body, 'direction') AS direction,
    JSONExtractString(body, 'method') AS method,
    JSONExtractString(body, 'provider') AS provider,
    JSONExtractString(body, 'provider_ref') AS provider_ref,
    JSONExtractString(body, 'booking_id') AS booking_id,
    JSONExtractString(body, 'customer_id') AS customer_id,
    JSONExtractString(body, 'booked_for', 'vehicle_id') AS vehicle_id,
    JSONExtractInt(body, 'amount', 'amount') AS amount,
    toInt64(arraySum(r -> JSONExtractInt(r, 'amount', 'amount'), JSONExtractArrayRaw(body, 'refunds'))) AS refunded,
    JSONExtractInt(body, 'fee', 'amount') AS fee,
    JSONExtractString(body, 'amount', 'currency') AS currency,
    parseDateTime64BestEffortOrZero(JSONExtractString(body, 'received_at'), 3, 'UTC') AS received_at,
    arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')) AS external_ids,
    body
FROM record_log
WHERE kind = 'payment'
