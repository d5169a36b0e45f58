-- The first time for which another booking of an account had a vehicle, by what was noted when it changed hands, that
-- shares a moment with a span; in milliseconds, until_ms is 0 while the vehicle is out. A rental that was over when its
-- pickup was written down has it until return_at as long as its return is not (Booking.Bygone). EXPLAIN indexes=1: the
-- account by the key; of its bookings the legs alone are read before the rest.
SELECT number, from_ms, until_ms
FROM
(
    SELECT id, number, leg.2 AS from_ms,
        if(leg.3 = 0 AND status = 'active' AND return_at < status_since AND JSONExtractBool(body, 'backdated'),
            toUnixTimestamp64Milli(return_at), leg.3) AS until_ms
    FROM bookings FINAL
    ARRAY JOIN arrayZip(leg_vehicles, leg_from_ms, leg_until_ms) AS leg
    WHERE account = {account:UInt64} AND id != {but:UInt64} AND status IN ('active', 'completed') AND archived_at IS NULL
        AND has(leg_vehicles, {vehicle:UInt64}) AND leg.1 = {vehicle:UInt64} AND leg.2 != 0
)
WHERE from_ms < {until:Int64} AND (until_ms = 0 OR until_ms > {from:Int64})
ORDER BY from_ms, id
LIMIT 1
