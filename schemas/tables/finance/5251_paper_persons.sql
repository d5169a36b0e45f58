-- Grain: who one paper names, as one sealing of it found them. Key: (account, paper, sealing). The paper names the
-- sealing that counts; a row that no paper names is of a sealing that was cut short, and kept until is that of the
-- others. body is JSON: who it is made out to, and the text of an agreement. customers are those whom it speaks of, by
-- id. Kept until the end of keep_until, also when they are erased, as the law of the books wants it; after that it goes
-- with them. Written by api/desk/paper before the revision that seals the paper. Serves: showing and printing a paper.
CREATE TABLE IF NOT EXISTS paper_persons
(
    account    UInt64,
    paper      UInt64,
    sealing    UInt64,
    customers  Array(UInt64),
    keep_until Date32,
    body       String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree
ORDER BY (account, paper, sealing)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 256
