-- Record batches of Kafka that could not be read within the last week, and the newest of them.
SELECT
    count() AS batches,
    argMax(concat(source_topic, ' partition ', toString(source_partition), ', ', detail), at) AS newest
FROM dead_letters FINAL
WHERE account = 0 AND at > now64(3) - INTERVAL 7 DAY AND reason = 'unreadable_batch'
