-- The views that feed from record_log: the text and the columns of each, the table that it fills, the key of that, and whether it knows revisions.
SELECT v.as_select, vc.names, t.name, t.sorting_key, has(tc.names, 'revision')
FROM
(
    SELECT name, as_select, extract(create_table_query, ' TO (?:[^ ]+\\.)?`?([A-Za-z0-9_]+)`?') AS fills
    FROM system.tables
    WHERE database = currentDatabase() AND engine = 'MaterializedView' AND match(as_select, 'FROM [^ ]*record_log\\b')
) AS v
INNER JOIN (SELECT name, sorting_key FROM system.tables WHERE database = currentDatabase()) AS t ON t.name = v.fills
INNER JOIN (SELECT table, groupArray(name) AS names FROM system.columns WHERE database = currentDatabase() GROUP BY table) AS vc ON vc.table = v.name
INNER JOIN (SELECT table, groupArray(name) AS names FROM system.columns WHERE database = currentDatabase() GROUP BY table) AS tc ON tc.table = t.name
ORDER BY t.name
