-- Grain: the visits of one vehicle to one geofence on one local day, in the zone that the vehicle has now. Key: (account,
-- local_date, vehicle, geofence). A function of visits as they stand; made again for days of which a visit changed. Only
-- what differs is written; the row that was made last counts, and one that has nothing any more stands with zeros: read
-- with FINAL and WHERE stays > 0. stays: visits that touch the day. visits: those of them that began on it, of visit_s
-- from beginning to end; one that goes on ends where it was heard last. inside_s: of the day itself. Seconds are those
-- between whole seconds, so that the days of a visit add up to it. It goes with the visits: a day that the account does
-- not keep any more is deleted. Serves: the report of time in geofences, which need not cut every visit at midnights.
CREATE TABLE IF NOT EXISTS geofence_days
(
    account     UInt64,
    local_date  Date32,
    vehicle     UInt64,
    geofence    UInt64,
    computed_at DateTime64(3, 'UTC'),
    stays       UInt32,
    visits      UInt32,
    inside_s    Int64,
    visit_s     Int64
)
ENGINE = ReplacingMergeTree(computed_at)
PARTITION BY toYYYYMM(local_date)
ORDER BY (account, local_date, vehicle, geofence)
SETTINGS non_replicated_deduplication_window = 10000
