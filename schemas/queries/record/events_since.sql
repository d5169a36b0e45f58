-- The lowest sequence of an account's events that were noted at {since} or later (0 if there is none), and the highest of
-- all of them.
SELECT minIf(sequence, noted_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')), max(sequence)
FROM events
WHERE account = {account:UInt64}
