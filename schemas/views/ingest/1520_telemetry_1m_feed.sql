-- telemetry to telemetry_1m.
CREATE MATERIALIZED VIEW IF NOT EXISTS telemetry_1m_feed TO telemetry_1m AS
SELECT
    account, vehicle, signal,
    toStartOfMinute(time) AS bucket,
    min(value) AS min_value,
    max(value) AS max_value,
    argMinState(value, time) AS first_value,
    argMaxState(value, time) AS last_value
FROM telemetry
GROUP BY account, vehicle, signal, bucket
