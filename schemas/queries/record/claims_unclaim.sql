-- Takes back claims of some writes: nobody knows of them yet.
ALTER TABLE claim_log
DELETE WHERE account = {account:UInt64} AND value IN {values:Array(String)} AND write_id IN {writes:Array(UInt64)}
SETTINGS mutations_sync = 1
