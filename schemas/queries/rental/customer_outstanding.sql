-- The bookings of some of an account's customers that are not over, or not settled.
WITH mine AS (
    SELECT id, status, owed_minor - applied_minor AS left_minor
    FROM bookings FINAL
    WHERE account = {account:UInt64} AND customer_id IN {customers:Array(String)}
)
SELECT mine.id, mine.status, if(mine.status = 'expired', 0, mine.left_minor - paid.paid) AS due
FROM mine
LEFT JOIN (
    SELECT booking_id, sum(if(direction = 'out', -1, 1) * (amount - refunded)) AS paid
    FROM payments FINAL
    WHERE account = {account:UInt64} AND status IN ('succeeded', 'refunded', 'partially_refunded') AND booking_id IN (SELECT concat('bkg_', toString(id)) FROM mine)
    GROUP BY booking_id
) AS paid ON paid.booking_id = concat('bkg_', toString(mine.id))
WHERE mine.status IN ('pending', 'confirmed', 'active') OR due != 0
ORDER BY mine.id
LIMIT 50
