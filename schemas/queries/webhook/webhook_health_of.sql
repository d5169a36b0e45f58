-- How some endpoints fare, in pairs as of webhook_unsettled. Times are in ms.
-- EXPLAIN indexes=1: the granules of the endpoints; there is a row an endpoint.
SELECT account, endpoint, version, toUnixTimestamp64Milli(failing_since), failures, warned,
    toUnixTimestamp64Milli(last_success_at), toUnixTimestamp64Milli(last_failure_at), last_status, last_error
FROM webhook_health FINAL
WHERE (account, endpoint) IN (SELECT arrayJoin(arrayZip({accounts:Array(UInt64)}, {endpoints:Array(UInt64)})))
