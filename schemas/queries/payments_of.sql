-- The ids of a booking's payments, archived or not, in no order.
SELECT id
FROM payments FINAL
WHERE account = {account:UInt64} AND booking_id = {booking:String}
