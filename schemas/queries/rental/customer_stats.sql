-- What some of an account's customers have booked, and what of it they owe, by customer and currency. Holds and what lapsed are not owed. EXPLAIN indexes=1: the
-- bookings by customer_bloom, the payments by the account.
WITH mine AS (
    SELECT id, customer_id, status, pickup_at, currency, total_minor - tax_minor AS net_minor, owed_minor - applied_minor AS left_minor, has_damage
    FROM bookings FINAL
    WHERE account = {account:UInt64} AND customer_id IN {customers:Array(String)}
)
SELECT
    mine.customer_id AS customer, mine.currency AS currency, count() AS bookings, countIf(mine.status = 'completed') AS completed, countIf(mine.status = 'cancelled') AS cancelled,
    countIf(mine.status = 'no_show') AS no_show, countIf(mine.has_damage = 'true') AS damaged,
    min(mine.pickup_at) AS first_at, max(mine.pickup_at) AS last_at,
    sumIf(mine.net_minor, mine.status NOT IN ('pending', 'expired')) AS booked,
    sumIf(mine.left_minor - paid.paid, mine.status NOT IN ('pending', 'expired')) AS due
FROM mine
LEFT JOIN (
    SELECT booking_id, sum(if(direction = 'out', -1, 1) * (amount - refunded)) AS paid
    FROM payments FINAL
    WHERE account = {account:UInt64} AND status IN ('succeeded', 'refunded', 'partially_refunded') AND booking_id IN (SELECT concat('bkg_', toString(id)) FROM mine)
    GROUP BY booking_id
) AS paid ON paid.booking_id = concat('bkg_', toString(mine.id))
GROUP BY mine.customer_id, mine.currency
