-- Of which vehicles, or other owners, a table's rows may be others since a block: those in the parts that hold what was inserted from it
-- on, which may be more than is new. api/roster fills source, table, owner and where, and joins one such question for each table.
-- EXPLAIN indexes=1: by the key, the part of the accounts; only the parts that hold the block.
SELECT DISTINCT toUInt8(/*source*/ 0) AS changed_source, account AS changed_account, toUInt64(/*owner*/ 0) AS changed_owner
FROM /*table*/
WHERE account IN {accounts:Array(UInt64)} AND toInt64(splitByChar('_', _part)[3]) >= {block:Int64} /*where*/
