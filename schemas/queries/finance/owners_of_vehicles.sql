-- Whose some vehicles were, and for which share: what the last revision of each local day says, '' being nobody's. As
-- owner_days has it of the vehicles of one owner. EXPLAIN indexes=1: the key of record_log leaves the revisions of these
-- vehicles, which are read whole.
SELECT id, day, said.1 AS owner, if(said.2 = '', 10000, toInt64OrZero(said.2)) AS share
FROM
(
    SELECT id, toDate32(toTimeZone(at, {zone:String})) AS day,
        argMax((JSONExtractString(body, 'owner_customer_id'), JSONExtractRaw(body, 'owner_share_bp')), revision) AS said
    FROM record_log
    WHERE account = {account:UInt64} AND kind = 'vehicle' AND id IN {vehicles:Array(UInt64)}
    GROUP BY id, day
)
ORDER BY id, day
