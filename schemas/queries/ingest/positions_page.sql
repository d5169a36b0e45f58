-- How many positions of a vehicle a filter lets through, from when to when (ms) those of one page are, in the order asked for, and how
-- many these are. The page begins behind {offset} of those with page_from <= fix_time < page_to, ascending with {direction} 1, descending
-- with -1. The marks are filled by query/positions.go: most is {offset} + {limit}. Distinct fix times are the rows that FINAL leaves, and the
-- key tells them; where flags are asked for it is FINAL, because a position may be stored again with others.
-- EXPLAIN indexes=1, 100 of 12,000 positions of one vehicle of 1,000 in 12 months: by the key, a granule or two of each month.
WITH groupArraySortedIf(/*most*/)({direction:Int8} * toUnixTimestamp64Milli(fix_time), fix_time >= fromUnixTimestamp64Milli({page_from:Int64}, 'UTC')
        AND fix_time < fromUnixTimestamp64Milli({page_to:Int64}, 'UTC')) AS times,
    arraySlice(times, {offset:UInt64} + 1, {limit:UInt64}) AS page
SELECT count(), toInt64({direction:Int8} * page[1]), toInt64({direction:Int8} * page[-1]), length(page)
FROM (
    SELECT /*distinct*/ fix_time
    FROM positions /*final*/
    WHERE account = {account:UInt64} AND vehicle = {vehicle:UInt64}
        AND fix_time >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND fix_time < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
        /*flags*/
)
SETTINGS do_not_merge_across_partitions_select_final = 1, max_threads = 1
