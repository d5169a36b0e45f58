-- Bookings of all accounts that are due for something at an instant: whose hold has lapsed, that nobody came for, that are overdue and
-- not noted so, whose deposit is authorized no longer. Of those that a channel sold, and that are known by its reservation, the channel says
-- whether somebody came. The longest due first; the next so many after a place in that order. What may be due is found among all versions of
-- the bookings first, which reads the column of states and little else; FINAL then merges those few, of which the same is asked again.
SELECT account, id, toUnixTimestamp64Milli(return_at) AS due_by
FROM bookings FINAL
WHERE (account, id) IN
    (
        SELECT account, id
        FROM bookings
        WHERE archived_at IS NULL
            AND multiIf(
                {what:String} = 'lapsed', status = 'pending' AND hold_expires_at <= fromUnixTimestamp64Milli({now:Int64}, 'UTC'),
                {what:String} = 'no_show', status = 'confirmed' AND no_show_at <= fromUnixTimestamp64Milli({now:Int64}, 'UTC')
                    AND NOT (channel IN ('turo', 'getaround', 'ota', 'partner') AND external_reservation_id != ''),
                {what:String} = 'overdue', status = 'active' AND return_at < fromUnixTimestamp64Milli({now:Int64}, 'UTC') AND toUnixTimestamp64Milli(overdue_noted_at) = 0,
                {what:String} = 'deposit', deposit_status = 'authorized' AND toUnixTimestamp64Milli(deposit_expires_at) != 0 AND deposit_expires_at <= fromUnixTimestamp64Milli({now:Int64}, 'UTC'),
                false)
    )
    AND archived_at IS NULL
    AND multiIf(
        {what:String} = 'lapsed', status = 'pending' AND hold_expires_at <= fromUnixTimestamp64Milli({now:Int64}, 'UTC'),
        {what:String} = 'no_show', status = 'confirmed' AND no_show_at <= fromUnixTimestamp64Milli({now:Int64}, 'UTC')
            AND NOT (channel IN ('turo', 'getaround', 'ota', 'partner') AND external_reservation_id != ''),
        {what:String} = 'overdue', status = 'active' AND return_at < fromUnixTimestamp64Milli({now:Int64}, 'UTC') AND toUnixTimestamp64Milli(overdue_noted_at) = 0,
        {what:String} = 'deposit', deposit_status = 'authorized' AND toUnixTimestamp64Milli(deposit_expires_at) != 0 AND deposit_expires_at <= fromUnixTimestamp64Milli({now:Int64}, 'UTC'),
        false)
    AND (toUnixTimestamp64Milli(return_at), account, id) > ({after_due:Int64}, {after_account:UInt64}, {after_id:UInt64})
ORDER BY return_at, account, id
LIMIT {limit:UInt32}
