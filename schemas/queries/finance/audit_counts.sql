-- Audit: how many records a table of current records has, of each account, against how many the log has of some kinds. Put together: the name of
-- the table takes the place of its mark. Where the log has records that were written since {until} the account is left out. EXPLAIN
-- indexes=1: everything is read.
SELECT account, {name:String} AS what, 'records' AS key, {kind:String} AS kind, toUInt64(0) AS id, '' AS day, sum(logged) AS expected, sum(current) AS found
FROM
(
    SELECT account, toInt64(uniqExact(kind, id)) AS logged, toInt64(0) AS current, max(at) AS newest
    FROM record_log
    WHERE kind IN {kinds:Array(String)}
    GROUP BY account
    UNION ALL
    SELECT account, 0, toInt64(count()), toDateTime64(0, 3, 'UTC') FROM /*table*/ FINAL GROUP BY account
)
GROUP BY account
HAVING expected != found AND max(newest) < fromUnixTimestamp64Milli({until:Int64}, 'UTC')
ORDER BY account
LIMIT {limit:UInt32} BY account
