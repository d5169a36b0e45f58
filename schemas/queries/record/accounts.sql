-- The accounts with a name, or all of them, by id.
SELECT id, revision, created_at, updated_at, archived_at, body
FROM accounts FINAL
WHERE archived_at IS NULL AND ({name:String} = '' OR name = {name:String})
ORDER BY id
