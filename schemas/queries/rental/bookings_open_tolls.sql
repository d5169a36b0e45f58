-- The tolls and fines that were matched to some bookings and are not billed yet.
SELECT toUInt64OrZero(substring(booking_id, 5)) AS booking, groupArray(id)
FROM tolls FINAL
WHERE account = {account:UInt64} AND booking_id IN {bookings:Array(String)} AND archived_at IS NULL AND status = 'matched'
GROUP BY booking
