-- The alerts of all accounts that began since a time, each of a version of its rule that wants an issue opened for each. The rules come first: few
-- accounts have any that wants one, and of the alerts only theirs are read.
-- EXPLAIN indexes=1: the log is read by (account, kind) of accounts with rules, alerts by account and month; where no rule wants an issue, none.
WITH wanted AS
(
    SELECT account, id, revision
    FROM record_log
    WHERE (account, kind) IN (SELECT account, 'alert_rule' FROM alert_rules) AND JSONExtractBool(body, 'open_issue')
)
SELECT account, vehicle, id, body
FROM alerts FINAL
WHERE account IN (SELECT account FROM wanted) AND start_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC') AND NOT deleted
    AND (account, rule) IN (SELECT account, id FROM wanted)
    AND (account, rule, JSONExtractUInt(body, 'rule_revision')) IN (SELECT account, id, revision FROM wanted)
ORDER BY start_at, account, vehicle, id
