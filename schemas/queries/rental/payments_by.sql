-- The ids of the payments of a booking, or of all of a customer's, archived or not, in no order.
SELECT id
FROM payments FINAL
WHERE account = {account:UInt64} AND if({booking:String} != '', booking_id = {booking:String}, customer_id = {customer:String})
