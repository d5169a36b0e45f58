-- When the newest recover or replay of an endpoint was asked for (ms) that is not done and somebody worked at since {since} (ms); 0: none.
-- One that is asked for again under its id is itself. EXPLAIN indexes=1: the granule of the endpoint.
SELECT toUnixTimestamp64Milli(max(asked_at))
FROM webhook_asked FINAL
WHERE account = {account:UInt64} AND endpoint = {endpoint:UInt64} AND kind = {kind:String} AND NOT done AND id != {id:UInt64}
    AND updated_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
