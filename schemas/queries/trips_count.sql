-- How many rows trips_list.sql gives without a cursor and a limit; the conditions are the same.
-- EXPLAIN indexes=1, a month of one vehicle in 1,000,000 trips of 1,000: by the key, 4 of 124 granules (one a partition).
SELECT count()
FROM trips FINAL
WHERE account = {account:UInt64}
    AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
    AND start_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    AND (end_at > fromUnixTimestamp64Milli({from:Int64}, 'UTC') OR start_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') OR open)
    AND updated_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
    AND ({deleted:UInt8} OR NOT deleted)
    AND ({open:Int8} < 0 OR open = {open:Int8}) AND ({late:Int8} < 0 OR late = {late:Int8})
    AND ({driver:String} = '' OR (vehicle, start_at, id) IN (
        SELECT t.vehicle, t.start_at, t.id
        FROM trips AS t FINAL INNER JOIN trip_drivers AS d FINAL ON t.account = d.account AND t.vehicle = d.vehicle
        WHERE t.account = {account:UInt64} AND d.account = {account:UInt64} AND {driver:String} != '' AND d.archived_at IS NULL
            AND t.vehicle IN (SELECT vehicle FROM trip_drivers WHERE account = {account:UInt64} AND driver = {driver:String})
            AND (d.from_at = t.start_at
                OR d.from_at <= t.start_at + toIntervalMillisecond(intDiv(dateDiff('millisecond', t.start_at, t.end_at), 2))
                AND d.to_at > t.start_at + toIntervalMillisecond(intDiv(dateDiff('millisecond', t.start_at, t.end_at), 2)))
        GROUP BY t.vehicle, t.start_at, t.id
        HAVING argMax(d.driver, d.id) = {driver:String}
    ))
SETTINGS do_not_merge_across_partitions_select_final = 1
