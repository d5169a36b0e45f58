-- Removes the claims on values of records that were erased, with their releases. What another record holds by now stays.
ALTER TABLE claim_log
DELETE WHERE account = {account:UInt64} AND startsWith(field, concat({kind:String}, '.')) AND (owner IN {ids:Array(UInt64)} OR owner = 0 AND (field, value) IN (
    SELECT field, value FROM claim_log
    WHERE account = {account:UInt64} AND startsWith(field, concat({kind:String}, '.'))
    GROUP BY field, value
    HAVING countIf(owner IN {ids:Array(UInt64)}) > 0 AND argMax(owner, revision) IN arrayConcat([toUInt64(0)], {ids:Array(UInt64)})))
SETTINGS mutations_sync = 1
