-- What was given up of what some of an account's bookings owe, in minor units: their bad debts that are in the books, and which
-- expenses these are.
SELECT booking_id, sum(amount), groupArray(id)
FROM expenses FINAL
WHERE account = {account:UInt64} AND booking_id IN {bookings:Array(String)} AND category = 'bad_debt' AND status = 'posted'
    AND archived_at IS NULL
GROUP BY booking_id
