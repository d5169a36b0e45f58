-- One row a work order. No vendor, assignee or description: they may name people.
-- Reads work_orders: account, id, number, vehicle_id, type, priority, status, scheduled_start, scheduled_end,
--     started_at, completed_at, downtime_minutes, warranty_claim, total_amount, currency, created_at, updated_at,
--     archived_at
CREATE OR REPLACE VIEW /*bi*/work_orders
(
    account_id String COMMENT 'the account; a user of this database sees one',
    work_order_id String COMMENT 'the work order',
    number String COMMENT 'what people call it by, like W-1042',
    vehicle_id String COMMENT 'the vehicle',
    type String COMMENT 'preventive, corrective, recall, inspection, tire or damage',
    priority String COMMENT 'low, normal, high or urgent',
    status String COMMENT 'where it is between draft and completed',
    scheduled_from Nullable(DateTime64(3, 'UTC')) COMMENT 'planned begin',
    scheduled_until Nullable(DateTime64(3, 'UTC')) COMMENT 'planned end',
    started_at Nullable(DateTime64(3, 'UTC')) COMMENT 'begin',
    completed_at Nullable(DateTime64(3, 'UTC')) COMMENT 'end',
    downtime_minutes UInt32 COMMENT 'minutes the vehicle was not to be had',
    warranty_claim Bool COMMENT 'claimed under warranty',
    total Decimal(38, 4) COMMENT 'what it cost, in units of the currency',
    total_minor Int64 COMMENT 'what it cost, in minor units of the currency',
    currency String COMMENT 'ISO 4217 code of the money in this row',
    created_at DateTime64(3, 'UTC') COMMENT 'when it was written down first',
    updated_at DateTime64(3, 'UTC') COMMENT 'when it was changed last',
    archived_at Nullable(DateTime64(3, 'UTC')) COMMENT 'when it was put aside; null while it is in use'
)
SQL SECURITY INVOKER AS
SELECT
    concat('acc_', toString(account)) AS account_id,
    concat('wo_', toString(id)) AS work_order_id,
    number,
    vehicle_id,
    type,
    priority,
    status,
    nullIf(scheduled_start, fromUnixTimestamp64Milli(toInt64(0), 'UTC')) AS scheduled_from,
    nullIf(scheduled_end, fromUnixTimestamp64Milli(toInt64(0), 'UTC')) AS scheduled_until,
    nullIf(started_at, fromUnixTimestamp64Milli(toInt64(0), 'UTC')) AS started_at,
    nullIf(completed_at, fromUnixTimestamp64Milli(toInt64(0), 'UTC')) AS completed_at,
    downtime_minutes,
    warranty_claim,
    toDecimal128(r.total_amount, 4) / /*units*/ AS total,
    r.total_amount AS total_minor,
    currency,
    created_at,
    updated_at,
    archived_at
FROM work_orders AS r FINAL
