-- The holds that overlap a period, of some vehicles of an account: those of a class ('' for any), and of ids (if narrowed). A hold that has
-- lapsed does not count. Vehicles without any have no row.
SELECT id, arrayMap(h -> h.1, overlapping) AS refs, arrayMap(h -> h.2, overlapping) AS from_, arrayMap(h -> h.3, overlapping) AS until_, arrayMap(h -> h.4, overlapping) AS expires_
FROM
(
    SELECT id, arrayFilter(h -> h.2 < fromUnixTimestamp64Milli({until:Int64}, 'UTC') AND h.3 > fromUnixTimestamp64Milli({from:Int64}, 'UTC')
            AND (toUnixTimestamp64Milli(h.4) = 0 OR h.4 > fromUnixTimestamp64Milli({now:Int64}, 'UTC')),
        arrayZip(hold_refs, hold_from, hold_until, hold_expires)) AS overlapping
    FROM calendars FINAL
    WHERE account = {account:UInt64} AND kind = 'calendar'
        AND ({narrowed:UInt8} = 0 OR id IN {ids:Array(UInt64)})
        AND ({class:String} = '' OR id IN (
            SELECT id FROM vehicles FINAL WHERE account = {account:UInt64} AND vehicle_class_id = {class:String}))
)
WHERE notEmpty(overlapping)
