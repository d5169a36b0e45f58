-- Who has claimed a value since it was given up last, and how long ago by the server's clock.
SELECT owner, detail, dateDiff('millisecond', max(at), now64(3, 'UTC'))
FROM claim_log
WHERE account = {account:UInt64} AND field = {field:String} AND value = {value:String} AND owner != 0 AND revision >
(
    SELECT max(revision) FROM claim_log
    WHERE account = {account:UInt64} AND field = {field:String} AND value = {value:String} AND owner = 0
)
GROUP BY owner, detail
SETTINGS max_threads = 1 -- it reads a granule or two: more threads cost more than they bring
