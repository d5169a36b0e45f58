-- Whether older parts of a table are still being written anew. EXPLAIN indexes=1: a table of the server.
SELECT count() > 0
FROM system.mutations
WHERE database = currentDatabase() AND table = {table:String} AND NOT is_done
