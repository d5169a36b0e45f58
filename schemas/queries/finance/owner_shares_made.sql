-- The expenses by which shares of owners in vehicles stand in the books, of some vehicles and one month.
-- EXPLAIN indexes=1: the account by the key, then vehicle_id_bloom.
SELECT id, revision, body
FROM expenses FINAL
WHERE account = {account:UInt64} AND vehicle_id IN {vehicles:Array(String)} AND schedule = 'owner_share'
    AND JSONExtractInt(body, 'scheduled', 'number') = {month:Int64} AND archived_at IS NULL
ORDER BY id
