-- One row a payment, received or paid out. No card, no name.
-- Reads payments: account, id, number, status, direction, method, provider, booking_id, customer_id, received_at,
--     amount, currency, refunded, fee, created_at, updated_at, archived_at
CREATE OR REPLACE VIEW /*bi*/payments
(
    account_id String COMMENT 'the account; a user of this database sees one',
    payment_id String COMMENT 'the payment',
    number String COMMENT 'what people call it by, like P-1042',
    status String COMMENT 'pending, succeeded, failed, refunded or partially_refunded',
    direction String COMMENT 'in or out',
    method String COMMENT 'card, cash, bank_transfer, check, wallet, platform or other',
    provider String COMMENT 'who handled it',
    booking_id String COMMENT 'for which booking; empty if for none',
    customer_id String COMMENT 'who paid; an id only',
    received_at Nullable(DateTime64(3, 'UTC')) COMMENT 'when the money moved (UTC)',
    amount Decimal(38, 4) COMMENT 'what was paid, in units of the currency',
    amount_minor Int64 COMMENT 'what was paid, in minor units of the currency',
    refunded Decimal(38, 4) COMMENT 'what was given back of it, in units of the currency',
    refunded_minor Int64 COMMENT 'what was given back of it, in minor units of the currency',
    fee Decimal(38, 4) COMMENT 'what the provider kept, in units of the currency',
    fee_minor Int64 COMMENT 'what the provider kept, in minor units of the currency',
    currency String COMMENT 'ISO 4217 code of the money in this row',
    created_at DateTime64(3, 'UTC') COMMENT 'when it was written down first',
    updated_at DateTime64(3, 'UTC') COMMENT 'when it was changed last',
    archived_at Nullable(DateTime64(3, 'UTC')) COMMENT 'when it was put aside; null while it is in use'
)
SQL SECURITY INVOKER AS
SELECT
    concat('acc_', toString(account)) AS account_id,
    concat('pay_', toString(id)) AS payment_id,
    number,
    status,
    direction,
    method,
    provider,
    booking_id,
    customer_id,
    nullIf(received_at, fromUnixTimestamp64Milli(toInt64(0), 'UTC')) AS received_at,
    toDecimal128(r.amount, 4) / /*units*/ AS amount,
    r.amount AS amount_minor,
    toDecimal128(r.refunded, 4) / /*units*/ AS refunded,
    r.refunded AS refunded_minor,
    toDecimal128(r.fee, 4) / /*units*/ AS fee,
    r.fee AS fee_minor,
    currency,
    created_at,
    updated_at,
    archived_at
FROM payments AS r FINAL
