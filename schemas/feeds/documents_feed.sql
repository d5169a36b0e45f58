-- record_log to documents. The kind of the document hides that of the record, which is why the condition names the table.
INSERT INTO documents
    (account, id, revision, created_at, updated_at, archived_at, customer_id, kind, name, expires_on, content_type, size_bytes,
     external_ids, body)
SELECT
    account, id, revision, created_at, at AS updated_at, archived_at,
    JSONExtractString(body, 'customer_id') AS customer_id,
    JSONExtractString(body, 'kind') AS kind,
    JSONExtractString(body, 'name') AS name,
    JSONExtractString(body, 'expires_on') AS expires_on,
    JSONExtractString(body, 'content_type') AS content_type,
    JSONExtractUInt(body, 'size_bytes') AS size_bytes,
    CAST([], 'Array(String)') AS external_ids,
    body
FROM record_log
WHERE record_log.kind = 'document'
