-- The newest claims on many values of one field: which revision stands, and whether the value is free.
SELECT
    value, max(revision) AS newest,
    argMax(owner = 0 OR ifNull(expires_at <= now64(3, 'UTC'), false), revision) AS free
FROM claim_log
WHERE account = {account:UInt64} AND field = {field:String} AND value IN {values:Array(String)}
GROUP BY value
