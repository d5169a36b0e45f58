-- What motorpool doctor wants to know of the server: version, clock in ms, settings of this connection, free space.
SELECT
    version() AS version,
    toUnixTimestamp64Milli(now64(3)) AS now_ms,
    getSetting('async_insert') != 0 AS async_insert,
    getSetting('insert_deduplicate') AS insert_deduplicate,
    getSetting('deduplicate_blocks_in_dependent_materialized_views') AS deduplicate_in_views,
    (SELECT min(free_space) FROM system.disks) AS free_bytes
