-- record_log to customer_notes.
INSERT INTO customer_notes
    (account, id, revision, created_at, updated_at, archived_at, customer_id, text, author, pinned, external_ids, body)
SELECT
    account, id, revision, created_at, at AS updated_at, archived_at,
    JSONExtractString(body, 'customer_id') AS customer_id,
    JSONExtractString(body, 'text') AS text,
    JSONExtractString(body, 'author') AS author,
    if(JSONExtractBool(body, 'pinned'), 'true', 'false') AS pinned,
    CAST([], 'Array(String)') AS external_ids,
    body
FROM record_log
WHERE kind = 'customer_note'
