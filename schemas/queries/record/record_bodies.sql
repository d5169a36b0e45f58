-- Everything that was ever written in some records of a kind.
SELECT body
FROM record_log
WHERE account = {account:UInt64} AND kind = {kind:String} AND id IN {ids:Array(UInt64)}
ORDER BY id, revision
