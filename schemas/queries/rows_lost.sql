-- How many of the rows that a batch was to insert are not in their table: neither the row itself nor one that has taken its place. The marks are
-- filled by pipeline/sink, which sends the keys of the rows along as sent_rows. Asked only where the server says that it has seen the batch's token.
SELECT count()
FROM sent_rows
WHERE (/*key*/) NOT IN (SELECT /*key*/ FROM /*table*/ WHERE (/*key*/) IN (SELECT /*key*/ FROM sent_rows))
