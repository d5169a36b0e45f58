-- The columns that the rows of each table are in order of, and those of them that a table of current records takes from
-- the record, as they follow upon others in a list: each by its expression.
SELECT t.name, any(t.sorting_key),
    arrayStringConcat(groupArrayIf(
        concat(', ', c.default_expression, ' AS ', c.name), c.is_in_sorting_key AND c.default_kind = 'DEFAULT'))
FROM system.tables AS t
INNER JOIN system.columns AS c ON c.database = t.database AND c.table = t.name
WHERE t.database = currentDatabase() AND c.database = currentDatabase() AND t.sorting_key != ''
GROUP BY t.name
