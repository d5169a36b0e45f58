-- Takes the bodies out of the revisions of records that were erased; the revisions stay, and so does the last one, which says so. It
-- waits until the bytes are out of the parts that are read. Only parts that hold such rows are written anew.
ALTER TABLE record_log
UPDATE body = '{}' WHERE account = {account:UInt64} AND kind = {kind:String} AND id IN {ids:Array(UInt64)} AND action != 'erase' AND body != '{}'
SETTINGS mutations_sync = 1
