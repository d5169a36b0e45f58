-- Every revision of the geofences and alert rules that were written since a time (ms), in order of their numbers: all of
-- them with since 0. Read by query.Policies.
SELECT account, kind, id, revision, at, ifNull(toUnixTimestamp64Milli(archived_at), 0), body
FROM record_log
WHERE (account, kind, id) IN (
    SELECT account, 'geofence' AS kind, id FROM geofences WHERE updated_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
    UNION ALL
    SELECT account, 'alert_rule' AS kind, id FROM alert_rules WHERE updated_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
)
ORDER BY account, kind, id, revision
