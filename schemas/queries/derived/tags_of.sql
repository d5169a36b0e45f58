-- The tags that a driver has or had.
SELECT DISTINCT tag
FROM driver_tags FINAL
WHERE account = {account:UInt64} AND tag != '' AND has(driver_id, {driver:String})
ORDER BY tag
