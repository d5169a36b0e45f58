-- One row an expense. No vendor and no description: they may name people.
-- Reads expenses: account, id, status, category, vehicle_id, booking_id, incurred_on, amount, currency, tax,
--     created_at, updated_at, archived_at
CREATE OR REPLACE VIEW /*bi*/expenses
(
    account_id String COMMENT 'the account; a user of this database sees one',
    expense_id String COMMENT 'the expense',
    status String COMMENT 'draft, posted or voided; only posted ones are in the books',
    category String COMMENT 'fuel, maintenance, insurance and others',
    vehicle_id String COMMENT 'of which vehicle; empty if of none',
    booking_id String COMMENT 'of which booking; empty if of none',
    incurred_on Nullable(Date32) COMMENT 'the day of the expense',
    amount Decimal(38, 4) COMMENT 'what it cost, with tax, in units of the currency',
    amount_minor Int64 COMMENT 'what it cost, with tax, in minor units of the currency',
    tax Decimal(38, 4) COMMENT 'the tax in it, in units of the currency',
    tax_minor Int64 COMMENT 'the tax in it, in minor units of the currency',
    currency String COMMENT 'ISO 4217 code of the money in this row',
    created_at DateTime64(3, 'UTC') COMMENT 'when it was written down first',
    updated_at DateTime64(3, 'UTC') COMMENT 'when it was changed last',
    archived_at Nullable(DateTime64(3, 'UTC')) COMMENT 'when it was put aside; null while it is in use'
)
SQL SECURITY INVOKER AS
SELECT
    concat('acc_', toString(account)) AS account_id,
    concat('exp_', toString(id)) AS expense_id,
    status,
    category,
    vehicle_id,
    booking_id,
    toDate32OrNull(incurred_on) AS incurred_on,
    toDecimal128(r.amount, 4) / /*units*/ AS amount,
    r.amount AS amount_minor,
    toDecimal128(r.tax, 4) / /*units*/ AS tax,
    r.tax AS tax_minor,
    currency,
    created_at,
    updated_at,
    archived_at
FROM expenses AS r FINAL
