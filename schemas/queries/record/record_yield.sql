-- Takes back first revisions of one write, whose ids are another's records: nobody knows of them yet.
ALTER TABLE record_log
DELETE WHERE account = {account:UInt64} AND kind = {kind:String} AND id IN {ids:Array(UInt64)} AND revision = 1 AND write_id = {write:UInt64}
SETTINGS mutations_sync = 1
