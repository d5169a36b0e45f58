-- The newest event of which each of some endpoints has a delivery, in pairs as of webhook_unsettled. What a partition's owner is told
-- of at or below that may be written already.
-- EXPLAIN indexes=1: the granules of the endpoints, as of webhook_unsettled (0.2 s).
SELECT account, endpoint, max(sequence)
FROM webhook_deliveries
WHERE (account, endpoint) IN (SELECT arrayJoin(arrayZip({accounts:Array(UInt64)}, {endpoints:Array(UInt64)})))
GROUP BY account, endpoint
