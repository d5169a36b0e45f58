-- Removes the releases of values that records held which were erased: before claims_forget, as the claims of the records tell which values these
-- are, and a statement that removes both asks each part of the table anew. What another record holds by now stays.
ALTER TABLE claim_log
DELETE WHERE account = {account:UInt64} AND startsWith(field, concat({kind:String}, '.')) AND owner = 0 AND (field, value) IN (
    SELECT field, value FROM claim_log
    WHERE account = {account:UInt64} AND startsWith(field, concat({kind:String}, '.'))
    GROUP BY field, value
    HAVING countIf(owner IN {ids:Array(UInt64)}) > 0 AND argMax(owner, revision) IN arrayConcat([toUInt64(0)], {ids:Array(UInt64)}))
SETTINGS mutations_sync = 1
