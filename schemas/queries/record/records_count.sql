-- How many of an account's records of a kind a list has on all its pages; the conditions and marks are those of records_list.
-- sought_word and sought_code are names that no column has: such a column would not be searched.
SELECT count()
FROM /*table*/ FINAL
/*joined*/
WHERE account = {account:UInt64}
    AND multiIf({archived:String} = 'all', true, {archived:String} = 'true', archived_at IS NOT NULL, archived_at IS NULL)
    AND ({ref:String} = '' OR has(external_ids, {ref:String}))
    AND (empty({words:Array(String)}) OR arrayAll((sought_word, sought_code) -> positionCaseInsensitiveUTF8(/*search*/, sought_word) > 0
        OR notEmpty(sought_code) AND positionCaseInsensitiveUTF8(/*search*/, sought_code) > 0, {words:Array(String)}, {bare:Array(String)}))
    AND ({narrowed:UInt8} = 0 OR id IN {ids:Array(UInt64)})
    /*filters*/
