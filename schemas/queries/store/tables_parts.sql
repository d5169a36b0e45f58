-- The parts of some tables: which inserts each has come from, by the numbers of the first and the last, and with it the newest
-- mutation, 0 if there was none. Merges join the spans, and keep the mutation. No column of the tables is read.
SELECT CAST(table, 'String'), partition_id, min_block_number, max_block_number,
    toInt64OrZero(splitByChar('_', name)[5]) AS mutated, rows
FROM system.parts
WHERE database = currentDatabase() AND table IN {tables:Array(String)} AND active
