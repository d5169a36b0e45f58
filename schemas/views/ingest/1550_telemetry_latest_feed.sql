-- telemetry to telemetry_latest: the newest measurement of each signal in the block.
CREATE MATERIALIZED VIEW IF NOT EXISTS telemetry_latest_feed TO telemetry_latest AS
SELECT account, vehicle, signal, max(t.time) AS time, argMax(t.value, t.time) AS value
FROM telemetry AS t
GROUP BY account, vehicle, signal
