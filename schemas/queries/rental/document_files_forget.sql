-- Removes all files of some customers. It waits until the bytes are out of the parts that are read.
ALTER TABLE document_files
DELETE WHERE account = {account:UInt64} AND customer IN {customers:Array(UInt64)}
SETTINGS mutations_sync = 1
