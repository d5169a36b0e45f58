-- Takes back claims of some writes: nobody knows of them yet. It names no value, since the server keeps statements of this sort.
ALTER TABLE claim_log
DELETE WHERE account = {account:UInt64} AND write_id IN {writes:Array(UInt64)}
SETTINGS mutations_sync = 1
