-- The alerts of all accounts that began since a time, each of a version of its rule that wants an issue opened for each. Of those rules
-- alone the versions are read, by the key of the log.
SELECT account, vehicle, id, body
FROM alerts FINAL
WHERE start_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC') AND NOT deleted
    AND (account, rule, JSONExtractUInt(body, 'rule_revision')) IN
    (
        SELECT account, id, revision
        FROM record_log
        WHERE (account, kind, id) IN (SELECT account, 'alert_rule', rule FROM alerts WHERE start_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC'))
            AND JSONExtractBool(body, 'open_issue')
    )
ORDER BY start_at, account, vehicle, id
