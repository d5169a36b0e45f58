-- telemetry to telemetry_1h.
CREATE MATERIALIZED VIEW IF NOT EXISTS telemetry_1h_feed TO telemetry_1h AS
SELECT
    account, vehicle, signal,
    toStartOfHour(time) AS bucket,
    min(value) AS min_value,
    max(value) AS max_value,
    argMinState(value, time) AS first_value,
    argMaxState(value, time) AS last_value
FROM telemetry
GROUP BY account, vehicle, signal, bucket
