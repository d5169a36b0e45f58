-- record_log to rate_plans: the columns that lists filter and sort by, taken from the record. A plan is enabled unless it says otherwise.
INSERT INTO rate_plans
    (account, id, revision, created_at, updated_at, archived_at, name, enabled, channels, vehicle_class_ids, valid_from, valid_to,
     priority, currency, daily_rate, external_ids, body)
SELECT
    account, id, revision, created_at, at AS updated_at, archived_at,
    JSONExtractString(body, 'name') AS name,
    NOT JSONHas(body, 'enabled') OR JSONExtractBool(body, 'enabled') AS enabled,
    JSONExtract(body, 'channels', 'Array(String)') AS channels,
    JSONExtract(body, 'vehicle_class_ids', 'Array(String)') AS vehicle_class_ids,
    JSONExtractString(body, 'valid_from') AS valid_from,
    JSONExtractString(body, 'valid_until') AS valid_to,
    toUInt16(JSONExtractUInt(body, 'priority')) AS priority,
    JSONExtractString(body, 'currency') AS currency,
    JSONExtractInt(body, 'daily_rate', 'amount') AS daily_rate,
    arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')) AS external_ids,
    body
FROM record_log
WHERE kind = 'rate_plan'
