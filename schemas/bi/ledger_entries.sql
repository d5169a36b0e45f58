-- One row an entry of the ledger, which never changes: what is corrected is corrected by further entries. The
-- entries of a transaction sum to zero.
-- Reads ledger_entries: account, id, transaction, local_date, use_date, ledger_account, amount, currency, vehicle,
--     class, booking, customer, location, channel, purpose, kind, occurred_at
CREATE OR REPLACE VIEW /*bi*/ledger_entries
(
    account_id String COMMENT 'the account; a user of this database sees one',
    entry_id String COMMENT 'the entry',
    transaction_id String COMMENT 'its transaction',
    local_date Date32 COMMENT 'day of the books',
    use_date Date32 COMMENT 'day it belongs to; differs where the books were closed',
    ledger_account String COMMENT 'code of the account; name and number are in ledger_accounts',
    type String COMMENT 'asset, liability, equity, revenue or cost',
    measure String COMMENT 'the column of vehicle_days it is added to',
    amount Decimal(38, 4) COMMENT 'debit positive, credit negative, in units of the currency',
    amount_minor Int64 COMMENT 'debit positive, credit negative, in minor units of the currency',
    currency String COMMENT 'ISO 4217 code of the money in this row',
    vehicle_id String COMMENT 'of which vehicle',
    vehicle_class_id String COMMENT 'of which class',
    booking_id String COMMENT 'of which booking',
    customer_id String COMMENT 'of which customer; an id only',
    location_id String COMMENT 'of which location',
    channel String COMMENT 'of which channel',
    purpose String COMMENT 'what it is for: a line of a bill, a tax, a deposit',
    kind String COMMENT 'kind of record it was posted for',
    occurred_at DateTime64(3, 'UTC') COMMENT 'when it was posted for (UTC)'
)
SQL SECURITY INVOKER AS
SELECT
    concat('acc_', toString(account)) AS account_id,
    concat('len_', toString(id)) AS entry_id,
    concat('ltx_', toString(transaction)) AS transaction_id,
    local_date,
    use_date,
    ledger_account,
    transform(ledger_account, /*codes*/, /*types*/, '') AS type,
    transform(ledger_account, /*codes*/, /*measures*/, '') AS measure,
    toDecimal128(r.amount, 4) / /*units*/ AS amount,
    r.amount AS amount_minor,
    currency,
    if(vehicle = 0, '', concat('veh_', toString(vehicle))) AS vehicle_id,
    if(class = 0, '', concat('vcl_', toString(class))) AS vehicle_class_id,
    if(booking = 0, '', concat('bkg_', toString(booking))) AS booking_id,
    if(customer = 0, '', concat('cus_', toString(customer))) AS customer_id,
    if(location = 0, '', concat('loc_', toString(location))) AS location_id,
    channel,
    purpose,
    kind,
    occurred_at
FROM ledger_entries AS r FINAL
