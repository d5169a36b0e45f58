-- How many rows a current table has of an account, of all revisions of its records.
-- EXPLAIN indexes=1: by the key, the part of the account, of which no column but the key is read.
SELECT count()
FROM /*table*/
WHERE account = {account:UInt64}
