-- The highest sequence of all accounts, and the lowest that was noted at {since} or later (0 if none was). Rows before
-- that one may be gone already: they expire part by part.
SELECT max(sequence), minIf(sequence, noted_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC'))
FROM events
