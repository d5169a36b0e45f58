-- Those of some bookings to which a toll or fine was matched that is not billed yet.
SELECT DISTINCT toUInt64OrZero(substring(booking_id, 5)) AS id
FROM tolls FINAL
WHERE account = {account:UInt64} AND booking_id IN {bookings:Array(String)} AND archived_at IS NULL AND status = 'matched'
