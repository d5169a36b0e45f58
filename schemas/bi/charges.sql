-- One row a charging session.
-- Reads charges: account, id, vehicle, start_at, end_at, local_date, open, late, updated_at, soc_start_pct,
--     soc_end_pct, energy_kwh, deleted
CREATE OR REPLACE VIEW /*bi*/charges
(
    account_id String COMMENT 'the account; a user of this database sees one',
    charging_id String COMMENT 'the session',
    vehicle_id String COMMENT 'the vehicle',
    start_at DateTime64(3, 'UTC') COMMENT 'when it began (UTC)',
    end_at DateTime64(3, 'UTC') COMMENT 'when it ended, or was last seen while it is open (UTC)',
    local_date Date COMMENT 'day of start_at in the zone of the vehicle',
    open Bool COMMENT 'it goes on',
    late Bool COMMENT 'known only long after it happened, by data that came late',
    updated_at DateTime64(3, 'UTC') COMMENT 'when this row was worked out',
    soc_start_pct Nullable(Float64) COMMENT 'state of charge at the begin, percent',
    soc_end_pct Nullable(Float64) COMMENT 'state of charge at the end, percent',
    energy_kwh Nullable(Float64) COMMENT 'energy taken, kilowatt hours'
)
SQL SECURITY INVOKER AS
SELECT
    concat('acc_', toString(account)) AS account_id,
    concat('chs_', toString(id)) AS charging_id,
    if(vehicle = 0, '', concat('veh_', toString(vehicle))) AS vehicle_id,
    start_at,
    end_at,
    local_date,
    open,
    late,
    updated_at,
    soc_start_pct,
    soc_end_pct,
    energy_kwh
FROM charges AS r FINAL
WHERE NOT deleted
