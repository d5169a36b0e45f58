-- Until when facts are made: until when of records, and of entries, all was made again that had been written, by the newest
-- version of the program that made any; 1970 if none has.
SELECT least(max(records_until), max(entries_until))
FROM fact_runs
WHERE account = 0 AND version = (SELECT max(version) FROM fact_runs)
