-- Which answers that are kept for idempotency keys name one of some words, by hashes.
SELECT DISTINCT sipHash64(detail)
FROM claim_log
WHERE account = {account:UInt64} AND field = 'idempotency' AND JSONHas(detail, 'answer') AND arrayExists(word -> position(detail, word) > 0, {words:Array(String)})
