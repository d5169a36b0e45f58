-- For each H3 cell of {resolution} the fixes of an account with from <= fix_time < to, the vehicles they are of, and the
-- time in ms that vehicles spent: of each fix up to the vehicle's next one, {cap} ms at most, and nothing for its last.
-- Only the fixes inside the box count; one whose west is greater than its east crosses the antimeridian. Stored cells
-- go to their parents, which is exact for sums. vehicle 0 means all. Without fixes that have a flag of {without}.
SELECT h3ToParent(cell, {resolution:UInt8}) AS area, count(), uniqExact(vehicle), sum(spent)
FROM
(
    SELECT vehicle, cell, lat7, lng7,
        least(greatest(leadInFrame(at, 1, at) OVER (PARTITION BY vehicle ORDER BY fix_time ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING) - at, 0), {cap:Int64}) AS spent
    FROM
    (
        SELECT vehicle, cell, lat7, lng7, fix_time, toUnixTimestamp64Milli(fix_time) AS at
        FROM positions FINAL
        WHERE account = {account:UInt64}
            AND ({vehicle:UInt64} = 0 OR vehicle = {vehicle:UInt64})
            AND fix_time >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND fix_time < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
            AND bitAnd(flags, {without:UInt32}) = 0
    )
)
WHERE lat7 BETWEEN {south:Int32} AND {north:Int32}
    AND if({west:Int32} <= {east:Int32}, lng7 BETWEEN {west:Int32} AND {east:Int32}, lng7 >= {west:Int32} OR lng7 <= {east:Int32})
GROUP BY area
ORDER BY area
LIMIT {limit:UInt64}
SETTINGS do_not_merge_across_partitions_select_final = 1, optimize_read_in_window_order = 1
