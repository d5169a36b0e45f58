-- One row a class of vehicles.
-- Reads vehicle_classes: account, id, name, code, rank, daily_rate, currency, created_at, updated_at, archived_at
CREATE OR REPLACE VIEW /*bi*/vehicle_classes
(
    account_id String COMMENT 'the account; a user of this database sees one',
    vehicle_class_id String COMMENT 'the class',
    name String COMMENT 'its name',
    code String COMMENT 'its code',
    rank UInt16 COMMENT 'order of classes, from small to large',
    daily_rate Decimal(38, 4) COMMENT 'rate of a day, if the class has one, in units of the currency',
    daily_rate_minor Int64 COMMENT 'rate of a day, if the class has one, in minor units of the currency',
    currency String COMMENT 'ISO 4217 code of the money in this row',
    created_at DateTime64(3, 'UTC') COMMENT 'when it was written down first',
    updated_at DateTime64(3, 'UTC') COMMENT 'when it was changed last',
    archived_at Nullable(DateTime64(3, 'UTC')) COMMENT 'when it was put aside; null while it is in use'
)
SQL SECURITY INVOKER AS
SELECT
    concat('acc_', toString(account)) AS account_id,
    concat('vcl_', toString(id)) AS vehicle_class_id,
    name,
    code,
    rank,
    toDecimal128(r.daily_rate, 4) / /*units*/ AS daily_rate,
    r.daily_rate AS daily_rate_minor,
    currency,
    created_at,
    updated_at,
    archived_at
FROM vehicle_classes AS r FINAL
