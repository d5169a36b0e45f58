-- derivations to route_runs.
CREATE MATERIALIZED VIEW IF NOT EXISTS route_runs_feed TO route_runs AS
SELECT
    account, vehicle, id, revision, start_at, end_at, local_date, open, deleted, late, written_at AS updated_at,
    toUInt64OrZero(JSONExtractString(body, 'plan')) AS plan,
    toUInt16(JSONLength(body, 'stops')) AS stops,
    toUInt16(arrayCount(s -> JSONHas(s, 'arrived_ms'), JSONExtractArrayRaw(body, 'stops'))) AS reached,
    toUInt16(arrayCount(s -> JSONHas(s, 'missed_ms'), JSONExtractArrayRaw(body, 'stops'))) AS missed,
    JSONExtractInt(body, 'off_ms') AS off_ms, JSONExtractString(body, 'closed_reason') AS closed_reason, body
FROM derivations
WHERE kind = 'route_run'
