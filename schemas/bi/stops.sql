-- One row a stop between trips. Without places: where renters stopped is theirs.
-- Reads stops: account, id, vehicle, start_at, end_at, local_date, open, late, updated_at, idle_s, closed_reason,
--     deleted
CREATE OR REPLACE VIEW /*bi*/stops
(
    account_id String COMMENT 'the account; a user of this database sees one',
    stop_id String COMMENT 'the stop',
    vehicle_id String COMMENT 'the vehicle',
    start_at DateTime64(3, 'UTC') COMMENT 'when it began (UTC)',
    end_at DateTime64(3, 'UTC') COMMENT 'when it ended, or was last seen while it is open (UTC)',
    local_date Date COMMENT 'day of start_at in the zone of the vehicle',
    open Bool COMMENT 'it goes on',
    late Bool COMMENT 'known only long after it happened, by data that came late',
    updated_at DateTime64(3, 'UTC') COMMENT 'when this row was worked out',
    idle_s Float64 COMMENT 'seconds with the engine on',
    closed_reason String COMMENT 'by what it was known to have ended'
)
SQL SECURITY INVOKER AS
SELECT
    concat('acc_', toString(account)) AS account_id,
    concat('stp_', toString(id)) AS stop_id,
    if(vehicle = 0, '', concat('veh_', toString(vehicle))) AS vehicle_id,
    start_at,
    end_at,
    local_date,
    open,
    late,
    updated_at,
    idle_s,
    closed_reason
FROM stops AS r FINAL
WHERE NOT deleted
