-- One row a moment or span of unsafe driving. Without places.
-- Reads driving_events: account, id, vehicle, start_at, end_at, local_date, open, late, updated_at, what, source,
--     value, speed_mps, deleted
CREATE OR REPLACE VIEW /*bi*/driving_events
(
    account_id String COMMENT 'the account; a user of this database sees one',
    driving_event_id String COMMENT 'the event',
    vehicle_id String COMMENT 'the vehicle',
    start_at DateTime64(3, 'UTC') COMMENT 'when it began (UTC)',
    end_at DateTime64(3, 'UTC') COMMENT 'when it ended, or was last seen while it is open (UTC)',
    local_date Date COMMENT 'day of start_at in the zone of the vehicle',
    open Bool COMMENT 'it goes on',
    late Bool COMMENT 'known only long after it happened, by data that came late',
    updated_at DateTime64(3, 'UTC') COMMENT 'when this row was worked out',
    what String COMMENT 'harsh_braking, harsh_acceleration, harsh_cornering or speeding',
    source String COMMENT 'device: the tracker said so; derived: from speed and course',
    value Float64 COMMENT 'how strong, in the unit of its kind',
    speed_mps Float64 COMMENT 'speed, metres a second'
)
SQL SECURITY INVOKER AS
SELECT
    concat('acc_', toString(account)) AS account_id,
    concat('drv_', toString(id)) AS driving_event_id,
    if(vehicle = 0, '', concat('veh_', toString(vehicle))) AS vehicle_id,
    start_at,
    end_at,
    local_date,
    open,
    late,
    updated_at,
    what,
    source,
    value,
    speed_mps
FROM driving_events AS r FINAL
WHERE NOT deleted
