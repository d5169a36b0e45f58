-- Events of an account, for deliveries that are tried again, by their sequences and ids, which stand at the same place of two lists: a
-- topic that was made anew, or went back, gives a sequence to another event, and both are there until their parts are merged.
-- EXPLAIN indexes=1, of 3 million events of 30 days: 4 of 367 granules for five sequences (12 ms).
SELECT sequence, id, type, vehicle, toUnixTimestamp64Milli(at), late, kind, object, revision, body
FROM events
WHERE account = {account:UInt64} AND sequence IN {sequences:Array(UInt64)}
    AND (sequence, id) IN (SELECT arrayJoin(arrayZip({sequences:Array(UInt64)}, {ids:Array(UInt64)})))
ORDER BY sequence, id
LIMIT 1 BY sequence, id
