-- The words by which people know an account's records of a kind. Lists of records that name those join it where words are sought: a booking is
-- found by its customer. The marks are filled by query/listjoin.go: table, search and prefix, which is that of the kind's ids.
-- EXPLAIN indexes=1: by the key, the account's part of the table.
SELECT concat('/*prefix*/', toString(id)) AS related_ref, /*search*/ AS related_words
FROM /*table*/ FINAL
WHERE account = {account:UInt64}
