-- Takes the bodies out of all but the newest revision of records that were wiped, which says so; the revisions stay. It waits until the
-- bytes are out of the parts that are read. Only parts that hold such rows are written anew.
ALTER TABLE record_log
UPDATE body = '{}' WHERE account = {account:UInt64} AND kind = {kind:String} AND id IN {ids:Array(UInt64)} AND body != '{}' AND (id, revision) NOT IN (
    SELECT id, max(revision) FROM record_log WHERE account = {account:UInt64} AND kind = {kind:String} AND id IN {ids:Array(UInt64)} GROUP BY id)
SETTINGS mutations_sync = 1
