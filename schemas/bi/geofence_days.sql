-- One row a vehicle, geofence and local day on which the vehicle was in it. It is made of visits and follows them within
-- a minute, or some minutes while thousands of bookings are imported.
-- Reads geofence_days: account, vehicle, geofence, local_date, stays, visits, inside_s, visit_s, computed_at
CREATE OR REPLACE VIEW /*bi*/geofence_days
(
    account_id String COMMENT 'the account; a user of this database sees one',
    vehicle_id String COMMENT 'the vehicle',
    geofence_id String COMMENT 'the geofence',
    local_date Date32 COMMENT 'the day in the zone that the vehicle has now',
    visits UInt32 COMMENT 'visits that began on the day',
    inside_s Int64 COMMENT 'seconds inside on the day, whenever the visit began',
    visit_s Int64 COMMENT 'seconds from beginning to end of the visits that began on the day; one that goes on ends where it was last seen',
    computed_at DateTime64(3, 'UTC') COMMENT 'when this row was worked out'
)
SQL SECURITY INVOKER AS
SELECT
    concat('acc_', toString(account)) AS account_id,
    if(vehicle = 0, '', concat('veh_', toString(vehicle))) AS vehicle_id,
    if(geofence = 0, '', concat('geo_', toString(geofence))) AS geofence_id,
    local_date,
    visits,
    inside_s,
    visit_s,
    computed_at
FROM geofence_days AS r FINAL
WHERE stays > 0
