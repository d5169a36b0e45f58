-- Grain: where a vehicle stands in event time: its newest trusted fix and what the classifier must remember to judge
-- the next one. Key: (account, vehicle). version is newest_time in ms, the newest fix time stored for the vehicle,
-- trusted or not: the row with the highest wins, and of equals the later insert. fix_time to source_offset are the
-- newest trusted fix; a vehicle without one has no row. candidate_* is a jump that waits for a second fix to confirm
-- it. still_* is what the wheels did since the place last changed (fleet.Wheels): since when the speed says that it
-- goes on from there, and has this very value; the speed (-1 for unknown), the way by the speeds, and how long nobody
-- told any. Written by pipeline/sink as the last step before a batch's offset is committed. Serves: the latest
-- position, and the state of a partition's new owner. Read with FINAL.
CREATE TABLE IF NOT EXISTS vehicle_state
(
    account           UInt64,
    vehicle           UInt64,
    version           UInt64,
    device            UInt64,
    fix_time          DateTime64(3, 'UTC'),
    device_time       DateTime64(3, 'UTC'),
    received_at       DateTime64(3, 'UTC'),
    lat7              Int32,
    lng7              Int32,
    altitude_dm       Nullable(Int32),
    speed_cms         Nullable(UInt16),
    course_cdeg       Nullable(UInt16),
    accuracy_dm       Nullable(UInt32),
    odometer_m        Nullable(UInt32),
    satellites        Nullable(UInt8),
    ignition          Enum8('unknown' = 0, 'off' = 1, 'on' = 2),
    motion            Enum8('unknown' = 0, 'still' = 1, 'moving' = 2),
    alarm             LowCardinality(String),
    cell              UInt64,
    flags             UInt32,
    source_topic      LowCardinality(String),
    source_partition  UInt16,
    source_offset     UInt64,
    newest_time       DateTime64(3, 'UTC'),
    candidate_time    Nullable(DateTime64(3, 'UTC')),
    candidate_lat7    Int32,
    candidate_lng7    Int32,
    still_goes_ms     Int64,
    still_same_ms     Int64,
    still_speed_mps   Float64,
    still_way_m       Float64,
    still_mute_ms     Int64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (account, vehicle)
SETTINGS non_replicated_deduplication_window = 10000
