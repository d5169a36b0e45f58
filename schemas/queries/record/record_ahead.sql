-- The newest revision of each record, of some accounts and kinds, in the parts of the log that hold what was inserted from a block on.
-- EXPLAIN indexes=1: by the key, the part of the accounts and kinds; only the parts that hold it.
SELECT account, CAST(kind, 'String'), id, max(revision)
FROM record_log
WHERE account IN {accounts:Array(UInt64)} AND kind IN {kinds:Array(String)} AND toInt64(splitByChar('_', _part)[3]) >= {block:Int64}
GROUP BY account, kind, id
