-- derivations to driving_events.
CREATE MATERIALIZED VIEW IF NOT EXISTS driving_events_feed TO driving_events AS
SELECT
    account, vehicle, id, revision, start_at, end_at, local_date, open, deleted, late, written_at AS updated_at,
    JSONExtractString(body, 'what') AS what, JSONExtractString(body, 'source') AS source, JSONExtractFloat(body, 'value') AS value,
    JSONExtractFloat(body, 'speed_mps') AS speed_mps, JSONExtractFloat(body, 'place', 'lat') AS lat, JSONExtractFloat(body, 'place', 'lng') AS lng,
    body
FROM derivations
WHERE kind = 'driving_event'
