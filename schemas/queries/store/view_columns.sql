-- The columns that a view gives, as the list of an insert.
SELECT arrayStringConcat(arrayMap(c -> c.2, arraySort(groupArray((position, name)))), ', ')
FROM system.columns
WHERE database = currentDatabase() AND table = {view:String}
