-- record_log to alert_acks. The actor is who wrote the first revision; there is no other.
INSERT INTO alert_acks
    (account, id, revision, created_at, updated_at, archived_at, actor, note, body)
SELECT
    account, id, revision, created_at, at AS updated_at, archived_at, actor,
    JSONExtractString(body, 'note') AS note,
    body
FROM record_log
WHERE kind = 'alert_ack'
