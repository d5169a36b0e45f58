-- The newest claim on one value, with its age by the server's clock; has expired ones too.
SELECT
    revision, write_id, owner, detail,
    ifNull(expires_at <= now64(3, 'UTC'), false) AS expired,
    dateDiff('millisecond', at, now64(3, 'UTC')) AS age_ms
FROM claim_log
WHERE account = {account:UInt64} AND field = {field:String} AND value = {value:String}
ORDER BY revision DESC, write_id
LIMIT 1
SETTINGS max_threads = 1 -- it reads a granule or two: more threads cost more than they bring
