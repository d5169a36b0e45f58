-- Every revision of the route plans that were written since a time (ms), in order of their numbers: all of them with since 0, but
-- for those that ended before the horizon. Read by query.Policies.
SELECT account, kind, id, revision, at, ifNull(toUnixTimestamp64Milli(archived_at), 0), body
FROM record_log
WHERE (account, kind, id) IN (
    SELECT account, 'route_plan' AS kind, id FROM route_plans FINAL
    WHERE updated_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
        AND ({since:Int64} > 0 OR ends_at >= fromUnixTimestamp64Milli({horizon:Int64}, 'UTC'))
)
ORDER BY account, kind, id, revision
