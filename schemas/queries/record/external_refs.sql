-- Vehicles and devices of an account that carry a name of one other system, such as what a recording calls them.
SELECT 'vehicle' AS kind, id, '' AS unique_id, '' AS vehicle_id,
    JSONExtractString(arrayFirst(r -> JSONExtractString(r, 'system') = {system:String}, JSONExtractArrayRaw(body, 'external_refs')), 'id') AS ref
FROM vehicles FINAL
WHERE account = {account:UInt64} AND archived_at IS NULL AND ref != ''
UNION ALL
SELECT 'device' AS kind, id, unique_id,
    JSONExtractString(arrayFirst(a -> JSONExtractString(a, 'until') = '', JSONExtractArrayRaw(body, 'assignments')), 'vehicle_id') AS vehicle_id,
    JSONExtractString(arrayFirst(r -> JSONExtractString(r, 'system') = {system:String}, JSONExtractArrayRaw(body, 'external_refs')), 'id') AS ref
FROM devices FINAL
WHERE account = {account:UInt64} AND archived_at IS NULL AND ref != ''
