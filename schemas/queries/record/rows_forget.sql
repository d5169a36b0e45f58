-- Removes the older rows of records that were erased from their current table; the newest revision, as the log has it, says that they
-- were, whether it was brought to the table yet or not. The mark is filled by api/record. It waits until the bytes are out of the parts
-- that are read.
ALTER TABLE /*table*/
DELETE WHERE account = {account:UInt64} AND id IN {ids:Array(UInt64)} AND (id, revision) NOT IN (
    SELECT id, max(revision) FROM record_log WHERE account = {account:UInt64} AND kind = {kind:String} AND id IN {ids:Array(UInt64)} GROUP BY id)
SETTINGS mutations_sync = 1
