-- Puts other texts in the place of some in a column of an account's rows. Both are in sweep_texts, the ones that go by their hashes alone, as the
-- server keeps what it is told here. It waits until they are out of the parts that are read.
ALTER TABLE /*table*/
UPDATE /*column*/ = transform(sipHash64(/*column*/),
    (SELECT groupArray(hash) FROM (SELECT hash FROM sweep_texts WHERE sweep = {sweep:UInt64} ORDER BY hash)),
    (SELECT groupArray(text) FROM (SELECT text FROM sweep_texts WHERE sweep = {sweep:UInt64} ORDER BY hash)), /*column*/)
WHERE account = {account:UInt64} AND sipHash64(/*column*/) IN (SELECT hash FROM sweep_texts WHERE sweep = {sweep:UInt64})
SETTINGS mutations_sync = 1
