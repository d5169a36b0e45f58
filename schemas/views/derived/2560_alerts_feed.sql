-- derivations to alerts.
CREATE MATERIALIZED VIEW IF NOT EXISTS alerts_feed TO alerts AS
SELECT
    account, vehicle, id, revision, start_at, end_at, local_date, open, deleted, late, written_at AS updated_at,
    toUInt64OrZero(JSONExtractString(body, 'rule')) AS rule, JSONExtractString(body, 'alert_kind') AS alert_kind,
    JSONExtractString(body, 'severity') AS severity, toUInt64OrZero(JSONExtractString(body, 'geofence')) AS geofence,
    JSONExtractString(body, 'resolved_reason') AS resolved_reason,
    body
FROM derivations
WHERE kind = 'alert'
