-- One row a location where vehicles are picked up and returned.
-- Reads locations: account, id, name, code, timezone, city, region, country, created_at, updated_at, archived_at
CREATE OR REPLACE VIEW /*bi*/locations
(
    account_id String COMMENT 'the account; a user of this database sees one',
    location_id String COMMENT 'the location',
    name String COMMENT 'its name',
    code String COMMENT 'its code',
    timezone String COMMENT 'IANA time zone',
    city String COMMENT 'city',
    region String COMMENT 'region',
    country String COMMENT 'country',
    created_at DateTime64(3, 'UTC') COMMENT 'when it was written down first',
    updated_at DateTime64(3, 'UTC') COMMENT 'when it was changed last',
    archived_at Nullable(DateTime64(3, 'UTC')) COMMENT 'when it was put aside; null while it is in use'
)
SQL SECURITY INVOKER AS
SELECT
    concat('acc_', toString(account)) AS account_id,
    concat('loc_', toString(id)) AS location_id,
    name,
    code,
    timezone,
    city,
    region,
    country,
    created_at,
    updated_at,
    archived_at
FROM locations AS r FINAL
