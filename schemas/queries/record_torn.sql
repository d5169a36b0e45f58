-- What a view makes of the revisions of record_lately and its table does not have: how many rows, or those rows inserted into it. The marks are filled
-- by api/record with what record_feeds tells: table, columns and key of the table, and the text of the view.
/*insert*/
SELECT /*what*/
FROM /*feed*/
WHERE (/*key*/) NOT IN
(
    SELECT /*key*/ FROM /*table*/ WHERE (/*key*/) IN (SELECT /*key*/ FROM /*feed*/)
)
