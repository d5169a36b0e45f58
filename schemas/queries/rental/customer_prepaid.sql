-- What some of an account's customers paid without a booking, less what they had back of it, by customer and currency.
SELECT customer_id, CAST(currency, 'String') AS unit, sum(if(direction = 'out', -1, 1) * (amount - refunded))
FROM payments FINAL
WHERE account = {account:UInt64} AND customer_id IN {customers:Array(String)} AND booking_id = ''
    AND status IN ('succeeded', 'refunded', 'partially_refunded') AND method != 'platform'
GROUP BY customer_id, unit
