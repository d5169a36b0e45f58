-- Which database this is and what keeps its tables: plain ones are this server's alone. A database that does not stand
-- has no id.
SELECT
    (SELECT toString(any(uuid)) FROM system.databases WHERE name = {database:String}) AS id,
    (
        SELECT countIf(engine LIKE '%MergeTree' AND engine NOT LIKE 'Replicated%' AND engine NOT LIKE 'Shared%')
        FROM system.tables
        WHERE database = {database:String}
    ) AS plain,
    (
        SELECT countIf(engine LIKE 'Replicated%' OR engine LIKE 'Shared%' OR engine = 'Distributed')
        FROM system.tables
        WHERE database = {database:String}
    ) AS shared,
    (
        SELECT count()
        FROM system.databases
        WHERE name = {database:String} AND engine IN ('Replicated', 'Shared')
    ) AS shared_database
