-- telemetry to telemetry_1d.
CREATE MATERIALIZED VIEW IF NOT EXISTS telemetry_1d_feed TO telemetry_1d AS
SELECT
    account, vehicle, signal,
    toDateTime(toStartOfDay(time), 'UTC') AS bucket,
    min(value) AS min_value,
    max(value) AS max_value,
    argMinState(value, time) AS first_value,
    argMaxState(value, time) AS last_value
FROM telemetry
GROUP BY account, vehicle, signal, bucket
