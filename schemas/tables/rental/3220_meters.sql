-- Grain: one meter reading, as in meter_readings, in the order in which the meters of a vehicle are read. Key:
-- (account, vehicle, kind, recorded_at, id), none of which ever changes; the highest revision wins, and says
-- whether it was voided. Filled from record_log. Serves: where the meters of vehicles stand, the readings around
-- one, miles a day. Read with FINAL. The record itself is not kept here.
CREATE TABLE IF NOT EXISTS meters
(
    account     UInt64,
    vehicle     UInt64 DEFAULT toUInt64OrZero(substring(JSONExtractString(body, 'vehicle_id'), 5)),
    kind        LowCardinality(String) DEFAULT JSONExtractString(body, 'kind'),
    recorded_at DateTime64(3, 'UTC')
        DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'recorded_at'), 3, 'UTC'),
    id          UInt64,
    revision    UInt64,
    value       Float64 DEFAULT JSONExtractFloat(body, 'value'),
    source      LowCardinality(String) DEFAULT JSONExtractString(body, 'source'),
    voided      Bool DEFAULT JSONExtractBool(body, 'voided'),
    body        String EPHEMERAL
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, vehicle, kind, recorded_at, id)
SETTINGS non_replicated_deduplication_window = 10000
