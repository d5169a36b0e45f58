-- One row a toll or fine. No plate: see vehicles.
-- Reads tolls: account, id, kind, status, agency, region, vehicle_id, booking_id, occurred_at, amount, currency,
--     admin_fee, created_at, updated_at, archived_at
CREATE OR REPLACE VIEW /*bi*/tolls
(
    account_id String COMMENT 'the account; a user of this database sees one',
    toll_id String COMMENT 'the toll or fine',
    kind String COMMENT 'toll or fine',
    status String COMMENT 'imported, matched, billed, paid, unmatched, disputed or waived',
    agency String COMMENT 'who asks for it',
    region String COMMENT 'where',
    vehicle_id String COMMENT 'the vehicle',
    booking_id String COMMENT 'whose booking pays; empty if none',
    occurred_at Nullable(DateTime64(3, 'UTC')) COMMENT 'when (UTC)',
    amount Decimal(38, 4) COMMENT 'what it costs, in units of the currency',
    amount_minor Int64 COMMENT 'what it costs, in minor units of the currency',
    admin_fee Decimal(38, 4) COMMENT 'what is charged for handling it, in units of the currency',
    admin_fee_minor Int64 COMMENT 'what is charged for handling it, in minor units of the currency',
    currency String COMMENT 'ISO 4217 code of the money in this row',
    created_at DateTime64(3, 'UTC') COMMENT 'when it was written down first',
    updated_at DateTime64(3, 'UTC') COMMENT 'when it was changed last',
    archived_at Nullable(DateTime64(3, 'UTC')) COMMENT 'when it was put aside; null while it is in use'
)
SQL SECURITY INVOKER AS
SELECT
    concat('acc_', toString(account)) AS account_id,
    concat('tol_', toString(id)) AS toll_id,
    kind,
    status,
    agency,
    region,
    vehicle_id,
    booking_id,
    nullIf(occurred_at, fromUnixTimestamp64Milli(toInt64(0), 'UTC')) AS occurred_at,
    toDecimal128(r.amount, 4) / /*units*/ AS amount,
    r.amount AS amount_minor,
    toDecimal128(r.admin_fee, 4) / /*units*/ AS admin_fee,
    r.admin_fee AS admin_fee_minor,
    currency,
    created_at,
    updated_at,
    archived_at
FROM tolls AS r FINAL
