-- Until when facts are made by one version of the program: until when of records, and of entries, all was made again that had
-- been written; 1970 as long as it has not made all of them, whatever others have made.
SELECT least(max(records_until), max(entries_until))
FROM fact_runs
WHERE account = 0 AND version = {version:UInt32}
