-- Every account in use, for the command line.
SELECT id, name, timezone, created_at
FROM accounts FINAL
WHERE archived_at IS NULL
ORDER BY id
