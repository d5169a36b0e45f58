-- Which revisions of some accounts' records stand in the parts of a current table that hold what was inserted from a block on. The marks are
-- filled by query/held.go; some says what one revision must be like.
-- EXPLAIN indexes=1: by the key, the part of the accounts; only the parts that hold it.
SELECT account, id, max(revision)
FROM /*table*/
WHERE account IN {accounts:Array(UInt64)} AND toInt64(splitByChar('_', _part)[3]) >= {block:Int64}
    /*some*/
GROUP BY account, id
