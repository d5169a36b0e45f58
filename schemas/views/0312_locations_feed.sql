-- record_log to locations: the columns that lists filter and sort by, taken from the record.
CREATE MATERIALIZED VIEW IF NOT EXISTS locations_feed TO locations AS
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
