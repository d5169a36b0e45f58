-- Those of an account's records of a kind, not archived, that other systems call by some names. The mark is filled by query/list.go with
-- the table of a Listing.
SELECT id, revision, created_at, updated_at, archived_at, body
FROM /*table*/ FINAL
WHERE account = {account:UInt64} AND archived_at IS NULL AND hasAny(external_ids, {refs:Array(String)})
ORDER BY id
