-- Puts other texts in the place of some in a column of an account's rows; the texts that go are named by their hashes alone, because
-- the server keeps what it is told here. It waits until they are out of the parts that are read.
ALTER TABLE /*table*/
UPDATE /*column*/ = transform(sipHash64(/*column*/), {hashes:Array(UInt64)}, {texts:Array(String)}, /*column*/)
WHERE account = {account:UInt64} AND sipHash64(/*column*/) IN {hashes:Array(UInt64)}
SETTINGS mutations_sync = 1
