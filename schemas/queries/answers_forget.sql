-- Puts another answer in the place of those that are kept for idempotency keys and name one of some records. The keys stay, so that
-- a repeated request does nothing twice.
ALTER TABLE claim_log
UPDATE detail = concat('{"hash":', JSONExtractRaw(detail, 'hash'), ',"answer":', {answer:String}, '}')
WHERE account = {account:UInt64} AND field = 'idempotency' AND JSONHas(detail, 'answer') AND arrayExists(word -> position(detail, word) > 0, {words:Array(String)})
SETTINGS mutations_sync = 1
