-- derivations to stops.
CREATE MATERIALIZED VIEW IF NOT EXISTS stops_feed TO stops AS
SELECT
    account, vehicle, id, revision, start_at, end_at, local_date, open, deleted, late, written_at AS updated_at,
    JSONExtractFloat(body, 'place', 'lat') AS lat, JSONExtractFloat(body, 'place', 'lng') AS lng,
    JSONExtractFloat(body, 'idle_ms') / 1000 AS idle_s, JSONExtractString(body, 'closed_reason') AS closed_reason,
    body
FROM derivations
WHERE kind = 'stop'
