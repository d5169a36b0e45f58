-- Bookings of an account that are not over, and are of some customers, as who rents or drives, or are marked for one who is on the do-not-rent list.
SELECT id
FROM bookings FINAL
WHERE account = {account:UInt64} AND archived_at IS NULL AND status IN ('pending', 'confirmed', 'active')
    AND (customer_id IN {customers:Array(String)} OR hasAny(driver_ids, {customers:Array(String)}) OR has(listed_customer_ids, {listed:String}))
ORDER BY id
