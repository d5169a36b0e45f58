-- How many events stand between two sequence numbers, both included, of all accounts. Reads the whole column: asked only where the server says that it
-- has seen a batch's token.
SELECT uniqExact(sequence)
FROM events
WHERE sequence BETWEEN {first:UInt64} AND {last:UInt64}
