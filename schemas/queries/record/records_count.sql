-- How many of an account's records of a kind a list has on all its pages; the conditions and marks are those of records_list.
SELECT count()
FROM /*table*/ FINAL
/*joined*/
WHERE account = {account:UInt64}
    AND multiIf({archived:String} = 'all', true, {archived:String} = 'true', archived_at IS NOT NULL, archived_at IS NULL)
    AND ({ref:String} = '' OR has(external_ids, {ref:String}))
    AND (empty({words:Array(String)}) OR arrayAll((word, code) -> positionCaseInsensitiveUTF8(/*search*/, word) > 0
        OR notEmpty(code) AND positionCaseInsensitiveUTF8(/*search*/, code) > 0, {words:Array(String)}, {bare:Array(String)}))
    AND ({narrowed:UInt8} = 0 OR id IN {ids:Array(UInt64)})
    /*filters*/
