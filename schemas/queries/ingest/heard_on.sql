-- The devices of which something came while they were on one of some vehicles. EXPLAIN indexes=1: the granules of the account.
SELECT groupUniqArray(device)
FROM heard
WHERE account = {account:UInt64} AND vehicle IN {vehicles:Array(UInt64)}
