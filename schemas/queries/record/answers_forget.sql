-- Puts another answer in the place of some that are kept for idempotency keys. These are named by hashes alone, because the server keeps what it
-- is told here. The keys stay, so that a repeated request does nothing twice.
ALTER TABLE claim_log
UPDATE detail = concat('{"hash":', JSONExtractRaw(detail, 'hash'), ',"answer":', {answer:String}, '}')
WHERE account = {account:UInt64} AND field = 'idempotency' AND JSONHas(detail, 'answer') AND sipHash64(detail) IN {hashes:Array(UInt64)}
SETTINGS mutations_sync = 1
