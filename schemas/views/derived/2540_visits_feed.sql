-- derivations to visits.
CREATE MATERIALIZED VIEW IF NOT EXISTS visits_feed TO visits AS
SELECT
    account, vehicle, id, revision, start_at, end_at, local_date, open, deleted, late, written_at AS updated_at,
    toUInt64OrZero(JSONExtractString(body, 'geofence')) AS geofence, JSONExtractUInt(body, 'geofence_revision') AS geofence_revision,
    JSONExtractBool(body, 'initial') AS initial, JSONExtractBool(body, 'crossed') AS crossed, JSONExtractString(body, 'exit_reason') AS exit_reason,
    body
FROM derivations
WHERE kind = 'visit'
