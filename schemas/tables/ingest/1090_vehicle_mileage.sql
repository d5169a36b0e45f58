-- Grain: the odometer of a vehicle, made monotonic: mileage = base_m + raw_m, where raw_m is the newest reading of the
-- vehicle's own counter and base_m what earlier counters had reached when they were reset or replaced. Key: (account,
-- vehicle); the row with the highest time wins. before_m is what the counter before the newest reset had reached, so
-- that a reset that was a misreading can be undone. Written with the state of a batch. Serves: current_mileage_mi. Read
-- with FINAL. The raw readings stay in telemetry under odometer_m.
CREATE TABLE IF NOT EXISTS vehicle_mileage
(
    account  UInt64,
    vehicle  UInt64,
    time     DateTime64(3, 'UTC'),
    raw_m    UInt32,
    base_m   UInt32,
    before_m UInt32
)
ENGINE = ReplacingMergeTree(time)
ORDER BY (account, vehicle)
SETTINGS non_replicated_deduplication_window = 10000
