-- Where the rows of one page of what was derived for an account stand, in the order of start_at or updated_at and id, and how many
-- rows there are on all pages. The marks are filled by query/derived.go: table, filters (of those that overlap [{from}, {to}) whole;
-- what is open has no end yet), by, direction, after, total, which is counted where all rows are of some vehicles and else 0, and
-- threads: what one vehicle has is little, and read by one.
-- It reads the narrow columns alone; derived_rows.sql reads what stands there.
-- EXPLAIN indexes=1, one vehicle of 1,000 in 1,000,000 trips of 12 months: by the key, a granule or two of each part.
SELECT vehicle, toUnixTimestamp64Milli(start_at), id, toUnixTimestamp64Milli(at), total
FROM (
    SELECT vehicle, start_at, id, /*by*/ AS at, /*total*/ AS total
    FROM /*table*/ FINAL
    WHERE account = {account:UInt64} /*filters*/
)
WHERE /*after*/
ORDER BY at /*direction*/, id /*direction*/
LIMIT {limit:UInt64} OFFSET {offset:UInt64}
SETTINGS do_not_merge_across_partitions_select_final = 1 /*threads*/
