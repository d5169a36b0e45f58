-- The papers of some kinds of a booking, or of an owner in a currency, archived or not, in the order in which they were made. Whoever
-- makes the next one decides by the claim on its place, not by this.
SELECT id, kind, revision, created_at, updated_at, archived_at, body
FROM papers FINAL
WHERE account = {account:UInt64} AND kind IN {kinds:Array(String)}
    AND ({booking:String} != '' AND booking_id = {booking:String}
        OR {owner:String} != '' AND customer_id = {owner:String} AND currency = {currency:String})
ORDER BY place, id
