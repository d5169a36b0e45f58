-- Records of some accounts as they stand in their current table, with all that lists compare of them, for whoever keeps them in memory. The marks
-- are filled by query/held.go: table, texts, folded, numbers, lists and search name only what a Listing does; final merges revisions; some is
-- empty, or that the id is one of those that records_revisions.sql finds, or the parts that hold what was inserted from a block on, of which
-- all revisions are read. What is read is all that is not archived; with ids or a block what is archived, too.
-- Blocks are small, as whoever reads them holds one whole.
-- EXPLAIN indexes=1: by the key, the part of the accounts; of a block, only the parts that hold it.
SELECT account, id, revision, toUnixTimestamp64Milli(created_at), toUnixTimestamp64Milli(updated_at), toUInt8(archived_at IS NOT NULL),
    body, CAST([/*texts*/], 'Array(String)'), CAST([/*folded*/], 'Array(String)'), CAST([/*numbers*/], 'Array(Int64)'), CAST([/*lists*/], 'Array(Array(String))'),
    external_ids, /*search*/
FROM /*table*/ /*final*/
WHERE account IN {accounts:Array(UInt64)}
    AND (empty({ids:Array(UInt64)}) OR id IN {ids:Array(UInt64)})
    AND ({archived:UInt8} = 1 OR archived_at IS NULL)
    /*some*/
SETTINGS max_block_size = 8192
