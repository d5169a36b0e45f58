-- One row an alert.
-- Reads alerts: account, id, vehicle, start_at, end_at, local_date, open, late, updated_at, rule, alert_kind,
--     severity, geofence, resolved_reason, deleted
CREATE OR REPLACE VIEW /*bi*/alerts
(
    account_id String COMMENT 'the account; a user of this database sees one',
    alert_id String COMMENT 'the alert',
    vehicle_id String COMMENT 'the vehicle',
    start_at DateTime64(3, 'UTC') COMMENT 'when it began (UTC)',
    end_at DateTime64(3, 'UTC') COMMENT 'when it ended, or was last seen while it is open (UTC)',
    local_date Date COMMENT 'day of start_at in the zone of the vehicle',
    open Bool COMMENT 'it goes on',
    late Bool COMMENT 'known only long after it happened, by data that came late',
    updated_at DateTime64(3, 'UTC') COMMENT 'when this row was worked out',
    rule_id String COMMENT 'by which rule',
    kind String COMMENT 'what it is about',
    severity String COMMENT 'info, warning or critical',
    geofence_id String COMMENT 'which geofence, if it is about one',
    resolved_reason String COMMENT 'by what it ended'
)
SQL SECURITY INVOKER AS
SELECT
    concat('acc_', toString(account)) AS account_id,
    concat('alr_', toString(id)) AS alert_id,
    if(vehicle = 0, '', concat('veh_', toString(vehicle))) AS vehicle_id,
    start_at,
    end_at,
    local_date,
    open,
    late,
    updated_at,
    if(rule = 0, '', concat('rul_', toString(rule))) AS rule_id,
    alert_kind AS kind,
    severity,
    if(geofence = 0, '', concat('geo_', toString(geofence))) AS geofence_id,
    resolved_reason
FROM alerts AS r FINAL
WHERE NOT deleted
