-- What there is of an account to rent a vehicle of a class by: whether it has classes and locations, and whether the class or a
-- rate plan gives a price. There are few of each, so that they are read from the log by its key.
SELECT
    toBool(countIf(kind = 'vehicle_class') > 0) AS classes,
    toBool(countIf(kind = 'location') > 0) AS locations,
    toBool(countIf(kind = 'vehicle_class' AND id = {class:UInt64} AND (JSONHas(body, 'daily_rate') OR JSONExtractString(body, 'rate_plan_id') != '')
        OR kind = 'rate_plan' AND NOT (JSONHas(body, 'enabled') AND NOT JSONExtractBool(body, 'enabled'))
            AND (NOT JSONHas(body, 'vehicle_class_ids') OR has(JSONExtract(body, 'vehicle_class_ids', 'Array(String)'), concat('vcl_', toString({class:UInt64}))))) > 0) AS rate
FROM (
    SELECT kind, id, argMax(body, revision) AS body, argMax(archived_at IS NULL, revision) AS in_use
    FROM record_log
    WHERE account = {account:UInt64} AND kind IN ('vehicle_class', 'location', 'rate_plan')
    GROUP BY kind, id
)
WHERE in_use
