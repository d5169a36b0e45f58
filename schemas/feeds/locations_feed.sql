-- record_log to locations: the columns that lists filter and sort by, taken from the record.
INSERT INTO locations
    (account, id, revision, created_at, updated_at, archived_at, name, code, timezone, line1, city, region, country, external_ids,
     body)
SELECT
    account, id, revision, created_at, at AS updated_at, archived_at,
    JSONExtractString(body, 'name') AS name,
    JSONExtractString(body, 'code') AS code,
    JSONExtractString(body, 'timezone') AS timezone,
    JSONExtractString(body, 'address', 'line1') AS line1,
    JSONExtractString(body, 'address', 'city') AS city,
    JSONExtractString(body, 'address', 'region') AS region,
    JSONExtractString(body, 'address', 'country') AS country,
    arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')) AS external_ids,
    body
FROM record_log
WHERE kind = 'location'
