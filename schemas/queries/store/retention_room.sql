-- How many bytes are free on the disk that has the least, without those that have no end, and how many the largest part of a table has: a
-- mutation writes parts anew before the old ones go.
SELECT
    (SELECT min(free_space) FROM system.disks WHERE total_space > 0 AND total_space < toUInt64(1e18)),
    (SELECT max(bytes_on_disk) FROM system.parts WHERE database = currentDatabase() AND table = {table:String} AND active)
