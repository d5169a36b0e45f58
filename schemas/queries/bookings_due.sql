-- Bookings of all accounts that are due for something at an instant: whose hold has lapsed, that nobody came for, that are overdue and
-- not noted so. The longest due first. It reads the column of states and little else.
SELECT account, id
FROM bookings FINAL
WHERE archived_at IS NULL
    AND multiIf(
        {what:String} = 'lapsed', status = 'pending' AND hold_expires_at <= fromUnixTimestamp64Milli({now:Int64}, 'UTC'),
        {what:String} = 'no_show', status = 'confirmed' AND no_show_at <= fromUnixTimestamp64Milli({now:Int64}, 'UTC'),
        {what:String} = 'overdue', status = 'active' AND return_at < fromUnixTimestamp64Milli({now:Int64}, 'UTC') AND toUnixTimestamp64Milli(overdue_noted_at) = 0,
        false)
ORDER BY return_at
LIMIT 1000
