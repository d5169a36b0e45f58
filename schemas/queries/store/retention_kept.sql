-- How many rows a turn of the retention keeps.
SELECT count()
FROM retention_keeps
WHERE turn = {turn:UInt64}
