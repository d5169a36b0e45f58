-- The account of a name, which is unique among those that are not archived.
SELECT id
FROM accounts FINAL
WHERE name = {name:String} AND archived_at IS NULL
LIMIT 1
