-- How many rows positions_latest.sql gives without a limit.
SELECT count()
FROM vehicle_state FINAL
WHERE account = {account:UInt64}
    AND vehicle IN (
        SELECT id FROM vehicles FINAL
        WHERE account = {account:UInt64} AND archived_at IS NULL AND (empty({vehicles:Array(UInt64)}) OR id IN {vehicles:Array(UInt64)}))
    AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
    AND lat7 BETWEEN {south:Int32} AND {north:Int32}
    AND if({west:Int32} <= {east:Int32}, lng7 BETWEEN {west:Int32} AND {east:Int32}, lng7 >= {west:Int32} OR lng7 <= {east:Int32})
    AND ({radius:Float64} = 0 OR toUInt64(round(2000 * {earth:Float64} * asin(sqrt(least(1,
        pow(sin(radians(lat7 / 1e7 - {lat:Float64}) / 2), 2)
        + cos(radians({lat:Float64})) * cos(radians(lat7 / 1e7)) * pow(sin(radians(lng7 / 1e7 - {lng:Float64}) / 2), 2)
    ))))) <= 1000 * {radius:Float64})
