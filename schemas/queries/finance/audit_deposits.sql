-- Audit: deposits that are held by the ledger, by booking and currency in minor units, against those that are owed by the booking: captured
-- and neither given back nor used. Journal entries by hand name no booking, and what they put there is of none. Bookings that changed since {until} are left out: their postings may be under way. EXPLAIN
-- indexes=1: the entries by the account of the ledger within each day, bookings whole.
SELECT account, 'deposit' AS what, concat(if(number = '', concat('bkg_', toString(booking)), number), ' ', unit) AS key, 'booking' AS kind, booking AS id,
    '' AS day, owed AS expected, held AS found
FROM
(
    SELECT account, booking, unit, sum(owes) AS owed, sum(holds) AS held, max(called) AS number, max(at) AS changed
    FROM
    (
        SELECT account, booking, CAST(currency, 'String') AS unit, toInt64(0) AS owes, -amount AS holds, '' AS called, toDateTime64(0, 3, 'UTC') AS at
        FROM ledger_entries FINAL
        WHERE ledger_account = 'deposits_held' AND kind != 'journal_entry'
        UNION ALL
        SELECT account, id, JSONExtractString(body, 'deposit', 'captured', 'currency'),
            JSONExtractInt(body, 'deposit', 'captured', 'amount') - JSONExtractInt(body, 'deposit', 'released', 'amount')
                - JSONExtractInt(body, 'deposit', 'applied', 'amount'),
            0, number, updated_at
        FROM bookings FINAL
        WHERE JSONExtractInt(body, 'deposit', 'captured', 'amount') != 0
    )
    GROUP BY account, booking, unit
)
WHERE expected != found AND changed < fromUnixTimestamp64Milli({until:Int64}, 'UTC')
ORDER BY account, key
LIMIT {limit:UInt32} BY account
SETTINGS do_not_merge_across_partitions_select_final = 1
