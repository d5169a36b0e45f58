-- Some of an account's records of a kind as they stand, in no order. The mark is filled by query/list.go with the table of a Listing.
-- EXPLAIN indexes=1, two of 100,000 vehicles: by the key, 1 granule.
SELECT id, revision, created_at, updated_at, archived_at, body
FROM /*table*/ FINAL
WHERE account = {account:UInt64} AND id IN {ids:Array(UInt64)}
