-- How far facts are made by one version of the program: until when of records, and of entries, all was made again that
-- had been written, when somebody last looked, and for how many milliseconds; 1970 if nobody has.
SELECT max(records_until), max(entries_until), max(made_at), argMax(took_ms, made_at) FROM fact_runs
WHERE version = {version:UInt32} AND account = 0
