-- One row an hour (UTC) of a signal of a vehicle. There is no sum and no average, so that what was sent twice
-- changes nothing.
-- Reads telemetry_1h: account, vehicle, signal, bucket, min_value, max_value, first_value, last_value
CREATE OR REPLACE VIEW /*bi*/telemetry_1h
(
    account_id String COMMENT 'the account; a user of this database sees one',
    vehicle_id String COMMENT 'the vehicle',
    signal String COMMENT 'name of the signal, with its unit',
    bucket DateTime('UTC') COMMENT 'begin of the hour (UTC)',
    min_value Float64 COMMENT 'lowest value',
    max_value Float64 COMMENT 'highest value',
    first_value Float64 COMMENT 'first value',
    last_value Float64 COMMENT 'last value'
)
SQL SECURITY INVOKER AS
SELECT
    concat('acc_', toString(account)) AS account_id,
    if(vehicle = 0, '', concat('veh_', toString(vehicle))) AS vehicle_id,
    signal,
    bucket,
    min(r.min_value) AS min_value,
    max(r.max_value) AS max_value,
    argMinMerge(r.first_value) AS first_value,
    argMaxMerge(r.last_value) AS last_value
FROM telemetry_1h AS r
GROUP BY account, vehicle, signal, bucket
