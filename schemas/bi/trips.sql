-- One row a trip. Without places: where renters drove is theirs.
-- Reads trips: account, id, vehicle, start_at, end_at, local_date, open, late, updated_at, distance_m,
--     distance_estimated_m, moving_s, idle_s, unrecorded_s, unrecorded, max_speed_mps, closed_reason, deleted
CREATE OR REPLACE VIEW /*bi*/trips
(
    account_id String COMMENT 'the account; a user of this database sees one',
    trip_id String COMMENT 'the trip',
    vehicle_id String COMMENT 'the vehicle',
    start_at DateTime64(3, 'UTC') COMMENT 'when it began (UTC)',
    end_at DateTime64(3, 'UTC') COMMENT 'when it ended, or was last seen while it is open (UTC)',
    local_date Date COMMENT 'day of start_at in the zone of the vehicle',
    open Bool COMMENT 'it goes on',
    late Bool COMMENT 'known only long after it happened, by data that came late',
    updated_at DateTime64(3, 'UTC') COMMENT 'when this row was worked out',
    distance_m Float64 COMMENT 'metres driven',
    distance_estimated_m Float64 COMMENT 'of them not recorded, but driven between two places',
    moving_s Float64 COMMENT 'seconds in motion',
    idle_s Float64 COMMENT 'seconds with the engine on and no motion',
    unrecorded_s Float64 COMMENT 'seconds without a report',
    unrecorded Bool COMMENT 'a way that nobody recorded',
    max_speed_mps Float64 COMMENT 'highest speed, metres a second',
    closed_reason String COMMENT 'by what it was known to have ended'
)
SQL SECURITY INVOKER AS
SELECT
    concat('acc_', toString(account)) AS account_id,
    concat('trp_', toString(id)) AS trip_id,
    if(vehicle = 0, '', concat('veh_', toString(vehicle))) AS vehicle_id,
    start_at,
    end_at,
    local_date,
    open,
    late,
    updated_at,
    distance_m,
    distance_estimated_m,
    moving_s,
    idle_s,
    unrecorded_s,
    unrecorded,
    max_speed_mps,
    closed_reason
FROM trips AS r FINAL
WHERE NOT deleted
