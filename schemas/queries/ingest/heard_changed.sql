-- On which vehicles devices ever were of whose hours more was heard since a block: as rows_changed.sql, of what a device is on.
-- EXPLAIN indexes=1: of heard_hours, by the key, the part of the accounts; only the parts that hold the block.
SELECT DISTINCT toUInt8(/*source*/ 0) AS changed_source, account AS changed_account, vehicle AS changed_owner
FROM heard
WHERE (account, device) IN
(
    SELECT account, device FROM heard_hours
    WHERE account IN {accounts:Array(UInt64)} AND toInt64(splitByChar('_', _part)[3]) >= {block:Int64}
)
