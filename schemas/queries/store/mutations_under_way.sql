-- Whether some commands are all among the mutations of a table that are not done; the server says them in brackets or without. EXPLAIN
-- indexes=1: a table of the server.
SELECT hasAll(groupUniqArray(replaceRegexpAll(command, '^\\(|\\)$', '')), {commands:Array(String)})
FROM system.mutations
WHERE database = currentDatabase() AND table = {table:String} AND NOT is_done
