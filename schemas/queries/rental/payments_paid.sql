-- What was received and given back for some of an account's bookings, in minor units. Money that went out as a payment of its own
-- counts as given back. A booking's payments are of one currency.
SELECT
    booking_id, any(currency),
    sum(if(direction = 'out', 0, amount)) AS received,
    sum(if(direction = 'out', amount - refunded, refunded)) AS given_back
FROM payments FINAL
WHERE account = {account:UInt64} AND booking_id IN {bookings:Array(String)}
    AND status IN ('succeeded', 'refunded', 'partially_refunded')
GROUP BY booking_id
