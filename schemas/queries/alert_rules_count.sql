-- How many of an account's alert rules a list has on all its pages; the conditions are those of alert_rules_list.
SELECT count()
FROM alert_rules FINAL
WHERE account = {account:UInt64}
    AND multiIf({archived:String} = 'all', true, {archived:String} = 'true', archived_at IS NOT NULL, archived_at IS NULL)
    AND updated_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
    AND ({ref:String} = '' OR has(external_ids, {ref:String}))
    AND (empty({words:Array(String)}) OR arrayAll(word -> positionCaseInsensitiveUTF8(concat(name, '\n', description), word) > 0, {words:Array(String)}))
    /*filters*/
