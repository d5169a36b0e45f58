-- Removes a file that a document no longer has. It waits until the bytes are out of the parts that are read.
ALTER TABLE document_files
DELETE WHERE account = {account:UInt64} AND document = {document:UInt64} AND upload = {upload:UInt64}
SETTINGS mutations_sync = 1
