-- The bookings of an account that may have days between two local dates, by id: those that are within five weeks of them, as planned
-- or as it was, those that are out, those that have days there, and those that were taxed on one.
SELECT DISTINCT id
FROM
(
    SELECT id FROM bookings FINAL
    WHERE account = {account:UInt64}
        AND least(pickup_at, if(toUnixTimestamp64Milli(actual_pickup_at) = 0, pickup_at, actual_pickup_at))
            < toDateTime64({to:Date32} + 35, 3, 'UTC')
        AND (status = 'active' OR greatest(pickup_at, return_at, actual_pickup_at, actual_return_at)
            >= toDateTime64({from:Date32} - 35, 3, 'UTC'))
    UNION ALL
    SELECT booking FROM rental_days
    WHERE account = {account:UInt64} AND local_date BETWEEN {from:Date32} AND {to:Date32}
    UNION ALL
    SELECT booking FROM ledger_entries
    WHERE account = {account:UInt64} AND local_date BETWEEN {from:Date32} AND {to:Date32} AND ledger_account = 'tax_payable' AND booking != 0
)
ORDER BY id
