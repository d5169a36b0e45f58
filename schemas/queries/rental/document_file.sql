-- The chunks of a file, in order.
SELECT data
FROM document_files
WHERE account = {account:UInt64} AND document = {document:UInt64} AND upload = {upload:UInt64}
ORDER BY chunk
