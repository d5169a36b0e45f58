-- The webhook endpoints that were written since a time (ms), archived ones too, as they stand; all of them with since 0. There are
-- few of an account, so that all are read over but for what the index of updated_at leaves out (EXPLAIN indexes=1: none of 2 granules
-- when nothing is new). Read by registry.Endpoints.
SELECT account, id, revision, created_at, updated_at, isNotNull(archived_at), body
FROM webhook_endpoints FINAL
WHERE updated_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
