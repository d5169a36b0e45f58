-- One page of an account's records of a kind: ids in order, each with its sort keys as text. The marks are filled by query/list.go:
-- table, joined (what was heard or paid and what related records are known by, where it is asked for), search, total (how many fit, counted where that is cheap), keys, filters, after and order name only what its Listing does, and values
-- are always parameters.
-- EXPLAIN indexes=1, one of 100 accounts in 100,000 vehicles: by the key, 1 or 2 granules.
-- sought_word and sought_code are names that no column has: such a column would not be searched.
SELECT id, [/*keys*/ toString(id)] AS keys, /*total*/ AS total
FROM /*table*/ FINAL
/*joined*/
WHERE account = {account:UInt64}
    AND multiIf({archived:String} = 'all', true, {archived:String} = 'true', archived_at IS NOT NULL, archived_at IS NULL)
    AND ({ref:String} = '' OR has(external_ids, {ref:String}))
    AND (empty({words:Array(String)}) OR arrayAll((sought_word, sought_code) -> positionCaseInsensitiveUTF8(/*search*/, sought_word) > 0
        OR notEmpty(sought_code) AND positionCaseInsensitiveUTF8(/*search*/, sought_code) > 0, {words:Array(String)}, {bare:Array(String)}))
    AND ({narrowed:UInt8} = 0 OR id IN {ids:Array(UInt64)})
    /*filters*/
    /*after*/
ORDER BY /*order*/ id
LIMIT {limit:UInt32} OFFSET {offset:UInt32}
