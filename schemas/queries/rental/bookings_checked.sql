-- Bookings of all accounts that are not over and of which somebody is, or may be, on the do-not-rent list, in the order of accounts and ids:
-- those after the one given, at most so many.
SELECT account, id
FROM bookings FINAL
WHERE (account, id) > ({after_account:UInt64}, {after_id:UInt64}) AND do_not_rent_check != 'clear'
    AND archived_at IS NULL AND status IN ('pending', 'confirmed', 'active')
ORDER BY account, id
LIMIT {limit:UInt32}
