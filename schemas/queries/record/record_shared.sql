-- Which of some records that were just made by one write share their id with a record of another write.
SELECT groupUniqArray(id)
FROM record_log
WHERE account = {account:UInt64} AND kind = {kind:String} AND id IN {ids:Array(UInt64)} AND revision = 1 AND write_id != {write:UInt64}
