-- What was received and given back for each of an account's bookings, in minor units, as payments_paid.sql has it of some. Lists of bookings
-- join it where what is owed decides.
-- EXPLAIN indexes=1: by the key, the account's part of payments.
SELECT
    booking_id AS paid_ref,
    sum(if(direction = 'out', 0, amount)) AS received,
    sum(if(direction = 'out', amount - refunded, refunded)) AS given_back
FROM payments FINAL
WHERE account = {account:UInt64} AND booking_id != '' AND status IN ('succeeded', 'refunded', 'partially_refunded')
GROUP BY booking_id
