-- Grain: one chunk of a file that was uploaded for a document. Key: (account, document, upload, chunk). A file is
-- written whole by one insert under an upload number of its own; the document's record names the upload that counts.
-- Written by api/desk/person with the token "document_file:<upload>". Serves: reading a file in order. Chunks of a replaced or
-- deleted file are deleted, and partitions keep what such a deletion has to rewrite small.
CREATE TABLE IF NOT EXISTS document_files
(
    account  UInt64,
    customer UInt64,
    document UInt64,
    upload   UInt64,
    chunk    UInt32,
    data     String CODEC(NONE)
)
ENGINE = MergeTree
PARTITION BY customer % 16
ORDER BY (account, document, upload, chunk)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 64
