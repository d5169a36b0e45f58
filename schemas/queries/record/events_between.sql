-- How many events of some accounts stand between two sequence numbers, both included. Asked only where the server says that it has seen a batch's token.
SELECT uniqExact(sequence)
FROM events
WHERE account IN {accounts:Array(UInt64)} AND sequence BETWEEN {first:UInt64} AND {last:UInt64}
