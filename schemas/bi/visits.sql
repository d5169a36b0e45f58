-- One row a stay in a geofence of the account.
-- Reads visits: account, id, vehicle, start_at, end_at, local_date, open, late, updated_at, geofence, initial,
--     crossed, exit_reason, deleted
CREATE OR REPLACE VIEW /*bi*/visits
(
    account_id String COMMENT 'the account; a user of this database sees one',
    visit_id String COMMENT 'the visit',
    vehicle_id String COMMENT 'the vehicle',
    start_at DateTime64(3, 'UTC') COMMENT 'when it began (UTC)',
    end_at DateTime64(3, 'UTC') COMMENT 'when it ended, or was last seen while it is open (UTC)',
    local_date Date COMMENT 'day of start_at in the zone of the vehicle',
    open Bool COMMENT 'it goes on',
    late Bool COMMENT 'known only long after it happened, by data that came late',
    updated_at DateTime64(3, 'UTC') COMMENT 'when this row was worked out',
    geofence_id String COMMENT 'the geofence',
    initial Bool COMMENT 'the vehicle was inside when it was first seen',
    crossed Bool COMMENT 'it passed through between two reports',
    exit_reason String COMMENT 'by what it was known to have left'
)
SQL SECURITY INVOKER AS
SELECT
    concat('acc_', toString(account)) AS account_id,
    concat('vis_', toString(id)) AS visit_id,
    if(vehicle = 0, '', concat('veh_', toString(vehicle))) AS vehicle_id,
    start_at,
    end_at,
    local_date,
    open,
    late,
    updated_at,
    if(geofence = 0, '', concat('geo_', toString(geofence))) AS geofence_id,
    initial,
    crossed,
    exit_reason
FROM visits AS r FINAL
WHERE NOT deleted
