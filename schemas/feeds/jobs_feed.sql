-- record_log to jobs. The kind of the job hides that of the record, which is why the condition names the table.
INSERT INTO jobs
    (account, id, revision, created_at, updated_at, archived_at, kind, subject, external_ids, body)
SELECT
    account, id, revision, created_at, at AS updated_at, archived_at,
    JSONExtractString(body, 'kind') AS kind,
    JSONExtractString(body, 'subject') AS subject,
    CAST([], 'Array(String)') AS external_ids,
    body
FROM record_log
WHERE record_log.kind = 'job'
