-- derivations to trips.
CREATE MATERIALIZED VIEW IF NOT EXISTS trips_feed TO trips AS
SELECT
    account, vehicle, id, revision, start_at, end_at, local_date, open, deleted, late, written_at AS updated_at,
    toUInt64OrZero(JSONExtractString(body, 'device')) AS device,
    JSONExtractFloat(body, 'start_place', 'lat') AS start_lat, JSONExtractFloat(body, 'start_place', 'lng') AS start_lng,
    JSONExtractFloat(body, 'end_place', 'lat') AS end_lat, JSONExtractFloat(body, 'end_place', 'lng') AS end_lng,
    JSONExtractFloat(body, 'distance_m') AS distance_m, JSONExtractFloat(body, 'moving_ms') / 1000 AS moving_s,
    JSONExtractFloat(body, 'idle_ms') / 1000 AS idle_s, JSONExtractFloat(body, 'max_speed_mps') AS max_speed_mps,
    JSONExtractString(body, 'closed_reason') AS closed_reason,
    body
FROM derivations
WHERE kind = 'trip'
