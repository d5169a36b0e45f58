-- Bookings of all accounts that are due for something at an instant, the longest due first; the next so many after a place in that order.
-- The mark due is filled by query/bookings.go. What may be due is found among all versions of the bookings first, which skips the
-- granules in which no version has the state that is asked for, and those are most; FINAL then merges those few, of which the same is asked again.
SELECT account, id, toUnixTimestamp64Milli(return_at) AS due_by
FROM bookings FINAL
WHERE (account, id) IN (SELECT account, id FROM bookings WHERE archived_at IS NULL AND /*due*/)
    AND archived_at IS NULL AND /*due*/
    AND (toUnixTimestamp64Milli(return_at), account, id) > ({after_due:Int64}, {after_account:UInt64}, {after_id:UInt64})
ORDER BY return_at, account, id
LIMIT {limit:UInt32}
