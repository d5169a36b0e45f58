-- Audit: the money in rental_sums, of what completed rentals came to, against their entries of the ledger, in the currency of the booking.
-- accounts are those of the ledger that are a measure of facts, and measures which. Bookings that changed since {until}, or have
-- an entry of a later revision, are left out, and everything until all facts are made by this version of the program; whether rows are
-- there at all audit_rentals says. EXPLAIN indexes=1: everything is read; entries and sums in the order of their keys.
WITH
    (SELECT count() = 0 OR countIf(account = 0 AND version = {version:UInt32}) > 0 FROM fact_runs) AS complete,
    ['revenue_time', 'revenue_mileage', 'revenue_extras', 'revenue_protection', 'revenue_fees', 'revenue_damage', 'discounts', 'refunds'] AS earns,
    ['platform_fees', 'cost_energy', 'cost_maintenance', 'cost_other_variable', 'toll_recharge'] AS takes
SELECT b.account AS account, compared.1 AS what, if(number = '', concat('bkg_', toString(b.booking)), number) AS key, 'booking' AS kind,
    b.booking AS id, toString(toDate32(pickup_at)) AS day, compared.2 AS expected, compared.3 AS found
FROM
(
    SELECT account, id AS booking, number, toString(currency) AS unit, pickup_at
    FROM bookings FINAL
    WHERE status = 'completed' AND updated_at < fromUnixTimestamp64Milli({until:Int64}, 'UTC') AND archived_at IS NULL AND complete
) AS b
INNER JOIN (SELECT account, booking, revenue, contribution FROM rental_sums FINAL) AS s ON s.account = b.account AND s.booking = b.booking
LEFT JOIN
(
    SELECT account, booking, toString(currency) AS unit, max(occurred_at) AS at,
        -sumIf(amount, has(earns, measure)) AS earned, -sumIf(amount, has(earns, measure) OR has(takes, measure)) AS left_over
    FROM
    (
        SELECT account, booking, currency, amount, occurred_at,
            transform(toString(ledger_account), {accounts:Array(String)}, {measures:Array(String)}, '') AS measure
        FROM ledger_entries FINAL
        WHERE booking != 0
    )
    GROUP BY account, booking, unit
) AS e ON e.account = b.account AND e.booking = b.booking AND e.unit = b.unit
ARRAY JOIN [('rental revenue', earned, revenue), ('rental contribution', left_over, contribution)] AS compared
WHERE expected != found AND at < fromUnixTimestamp64Milli({until:Int64}, 'UTC')
ORDER BY account, key, what
LIMIT {limit:UInt32} BY account
SETTINGS do_not_merge_across_partitions_select_final = 1
