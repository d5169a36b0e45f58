-- In how many partitions of a table none stands of the rows that a batch was to insert: neither a row itself nor one that has taken its place. An
-- insert makes one part in each partition, so that a part that was lost is all of them. The marks are filled by pipeline/sink, which sends the keys of
-- the rows along. Asked only where the server says that it has seen the batch's token.
-- External: sent_rows (account UInt64, id UInt64, revision UInt64)
SELECT count()
FROM
(
    SELECT countIf((/*key*/) IN (SELECT /*key*/ FROM /*table*/ WHERE (/*key*/) IN (SELECT /*key*/ FROM sent_rows))) AS there
    FROM sent_rows
    GROUP BY /*partition*/
)
WHERE there = 0
