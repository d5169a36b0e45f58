-- How many of the vehicles of a batch have in a table of one row a vehicle neither the batch's row nor one that has taken its place. The marks are
-- filled by pipeline/sink, which sends the rows along. Asked only where the server says that it has seen the batch's token.
-- External: sent_rows (account UInt64, id UInt64, revision UInt64)
SELECT count()
FROM sent_rows
WHERE (/*key*/) NOT IN
(
    SELECT /*key*/
    FROM (SELECT * FROM /*table*/ WHERE (/*key*/) IN (SELECT /*key*/ FROM sent_rows)) AS t
    INNER JOIN sent_rows AS s USING (/*key*/)
    WHERE /*there*/
)
