-- Takes back first revisions of some writes, whose ids are another's records: nobody knows of them yet.
ALTER TABLE record_log
DELETE WHERE (account, kind, id) IN arrayZip({accounts:Array(UInt64)}, {kinds:Array(String)}, {ids:Array(UInt64)})
    AND revision = 1 AND write_id IN {writes:Array(UInt64)}
SETTINGS mutations_sync = 1
