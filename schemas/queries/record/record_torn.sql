-- What a feed makes of the revisions of record_lately and its table does not have: how many rows, or those rows
-- inserted into it. The marks are filled by api/record: table, columns and query of the feed, and what table_keys tells
-- of its order.
/*insert*/
WITH brought AS (SELECT * /*made*/ FROM /*feed*/)
SELECT /*what*/
FROM brought
WHERE (/*key*/) NOT IN
(
    SELECT /*key*/ FROM /*table*/ WHERE (/*key*/) IN (SELECT /*key*/ FROM brought)
)
