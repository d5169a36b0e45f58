-- One row a geofence, by name. Without its shape.
-- Reads geofences: account, id, name, shape, tags, created_at, updated_at, archived_at
CREATE OR REPLACE VIEW /*bi*/geofences
(
    account_id String COMMENT 'the account; a user of this database sees one',
    geofence_id String COMMENT 'the geofence',
    name String COMMENT 'its name',
    shape String COMMENT 'kind of its shape',
    tags Array(String) COMMENT 'tags of vehicles it is for',
    created_at DateTime64(3, 'UTC') COMMENT 'when it was written down first',
    updated_at DateTime64(3, 'UTC') COMMENT 'when it was changed last',
    archived_at Nullable(DateTime64(3, 'UTC')) COMMENT 'when it was put aside; null while it is in use'
)
SQL SECURITY INVOKER AS
SELECT
    concat('acc_', toString(account)) AS account_id,
    concat('geo_', toString(id)) AS geofence_id,
    name,
    shape,
    tags,
    created_at,
    updated_at,
    archived_at
FROM geofences AS r FINAL
