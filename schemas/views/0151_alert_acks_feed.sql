-- record_log to alert_acks. The actor is who wrote the first revision; there is no other.
CREATE MATERIALIZED VIEW IF NOT EXISTS alert_acks_feed TO alert_acks AS
SELECT
    account, id, revision, created_at, at AS updated_at, archived_at, actor,
    JSONExtractString(body, 'note') AS note,
    body
FROM record_log
WHERE kind = 'alert_ack'
