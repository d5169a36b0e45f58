-- The columns of text in which people's words may stand: of tables that have an account and are none of those that devices fill, nor
-- paper_persons, of which paper_persons_forget takes what may be taken. Columns
-- of a sorting key cannot be changed, and are left out. The log comes first: tables of current records are fed from it, or by a writer that
-- has a second for it (record.Store.feedSince, ListDrafts), and one that is fed while a sweep goes on would get the text again that was swept out of it.
SELECT c.table, c.name
FROM system.columns AS c
INNER JOIN system.tables AS t ON t.database = c.database AND t.name = c.table
WHERE c.database = currentDatabase() AND t.engine LIKE '%MergeTree' AND c.type IN ('String', 'Nullable(String)')
    AND c.default_kind NOT IN ('ALIAS', 'EPHEMERAL')
    AND NOT c.is_in_sorting_key AND NOT c.is_in_partition_key
    AND c.table IN (SELECT table FROM system.columns WHERE database = currentDatabase() AND name = 'account')
    AND c.table NOT IN ('positions', 'telemetry', 'tag_reports', 'dead_letters', 'unregistered_reports', 'ingest_outcomes', 'device_outcomes', 'derivations', 'trips', 'stops',
        'charges', 'visits', 'driving_events', 'alerts', 'checkpoints', 'paper_persons')
    AND NOT has({without:Array(String)}, c.table)
ORDER BY c.table != 'record_log', c.table, c.name
