-- Which vehicles and recurring costs, of an account or for 0 of all, the desk must look at for what they cost by schedule: those whose
-- terms, or what people posted for them, are not what was looked at last, and those of which something falls due. basis
-- is the fingerprint of both. A recurring cost goes by the terms of its vehicle, too, and whoever was looked at longest
-- ago comes first. What has no terms and never had any is left out. EXPLAIN indexes=1: of one account all tables by it.
WITH posted AS (
    SELECT account, vehicle_id, sum(cityHash64(id, revision)) AS fingerprint
    FROM expenses FINAL
    WHERE ({account:UInt64} = 0 OR account = {account:UInt64}) AND status IN ('posted', 'voided')
        AND (category IN {categories:Array(String)} AND scheduled_by != vehicle_id
            OR scheduled_by = '' AND booking_id = '' AND (account, vehicle_id) IN (
                SELECT account, vehicle_id FROM recurring_costs FINAL
                WHERE ({account:UInt64} = 0 OR account = {account:UInt64}) AND archived_at IS NULL AND location_id = ''))
    GROUP BY account, vehicle_id
)
SELECT s.account AS account, s.subject AS subject, s.fingerprint AS basis
FROM (
    SELECT v.account AS account, concat('veh_', toString(v.id)) AS subject, v.terms != 0 AS asks,
        cityHash64(v.terms, p.fingerprint) AS fingerprint
    FROM vehicles AS v FINAL
    LEFT JOIN posted AS p ON p.account = v.account AND p.vehicle_id = concat('veh_', toString(v.id))
    WHERE ({account:UInt64} = 0 OR v.account = {account:UInt64}) AND v.archived_at IS NULL
    UNION ALL
    SELECT r.account, concat('rcc_', toString(r.id)), true, cityHash64(r.revision, v.terms, p.fingerprint)
    FROM recurring_costs AS r FINAL
    LEFT JOIN (
        SELECT account, concat('veh_', toString(id)) AS vehicle_id, terms FROM vehicles FINAL
        WHERE ({account:UInt64} = 0 OR account = {account:UInt64})
    ) AS v
        ON v.account = r.account AND v.vehicle_id = r.vehicle_id
    LEFT JOIN posted AS p ON p.account = r.account AND p.vehicle_id = r.vehicle_id
    WHERE ({account:UInt64} = 0 OR r.account = {account:UInt64}) AND r.archived_at IS NULL
) AS s
LEFT JOIN (
    SELECT account, subject, at, basis, next_at FROM schedule_looks FINAL
    WHERE ({account:UInt64} = 0 OR account = {account:UInt64})
) AS l ON l.account = s.account AND l.subject = s.subject
WHERE l.subject = '' AND s.asks
    OR l.subject != '' AND (l.basis != s.fingerprint OR l.next_at <= fromUnixTimestamp64Milli({now:Int64}, 'UTC'))
ORDER BY l.at, s.account, s.subject
LIMIT {limit:UInt32}
