-- record_log to geofences: the columns that lists filter and sort by, taken from the record.
INSERT INTO geofences
    (account, id, revision, created_at, updated_at, archived_at, name, description, shape, tags, vehicle_ids, south, west, north,
     east, external_ids, body)
SELECT
    account, id, revision, created_at, at AS updated_at, archived_at,
    JSONExtractString(body, 'name') AS name,
    JSONExtractString(body, 'description') AS description,
    lower(JSONExtractString(body, 'geometry', 'type')) AS shape,
    JSONExtract(body, 'scope', 'tags', 'Array(String)') AS tags,
    JSONExtract(body, 'scope', 'vehicle_ids', 'Array(String)') AS vehicle_ids,
    ifNull(JSONExtract(body, 'bounds', 'south', 'Nullable(Float64)'), 90) AS south,
    JSONExtractFloat(body, 'bounds', 'west') AS west,
    ifNull(JSONExtract(body, 'bounds', 'north', 'Nullable(Float64)'), -90) AS north,
    JSONExtractFloat(body, 'bounds', 'east') AS east,
    arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')) AS external_ids,
    body
FROM record_log
WHERE kind = 'geofence'
