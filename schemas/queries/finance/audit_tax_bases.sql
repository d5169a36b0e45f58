-- Audit: the tax in tax_bases of which it is known on what it was charged, against the entries of the ledger: of a booking and tax it is all
-- or nothing, and nothing only if the first charge of it does not say the rate. Bookings that changed since {until}, or have an entry of a later
-- revision, are left out, and everything until all facts are made by this version of the program, if it ever looked. EXPLAIN indexes=1: everything
-- is read; entries and bases in the order of their keys.
WITH (SELECT count() = 0 OR countIf(account = 0 AND version = {version:UInt32}) > 0 FROM fact_runs) AS complete,
    differing AS
    (
        SELECT e.account AS account, e.booking AS booking, e.name AS name, e.posted AS posted, e.day AS day, t.known AS known
        FROM
        (
            SELECT account, booking, toString(currency) AS unit, substring(toString(purpose), 6) AS name, -sum(amount) AS posted,
                toString(min(local_date)) AS day, max(occurred_at) AS at
            FROM ledger_entries FINAL
            WHERE ledger_account = 'tax_payable' AND kind = 'booking' AND startsWith(purpose, 'tax, ') AND complete
                AND account IN (SELECT DISTINCT account FROM vehicle_days)
            GROUP BY account, booking, unit, name
            HAVING at < fromUnixTimestamp64Milli({until:Int64}, 'UTC')
        ) AS e
        LEFT JOIN
        (
            SELECT account, booking, toString(currency) AS unit, toString(tax_bases.name) AS name, sum(tax_bases.known) AS known
            FROM tax_bases FINAL
            GROUP BY account, booking, unit, name
        ) AS t ON t.account = e.account AND t.booking = e.booking AND t.unit = e.unit AND t.name = e.name
        WHERE posted != known
    )
SELECT d.account AS account, 'tax of which the net amount is known' AS what, concat(if(number = '', concat('bkg_', toString(d.booking)), number), ' ', d.name) AS key,
    'booking' AS kind, d.booking AS id, d.day AS day, d.posted AS expected, d.known AS found
FROM differing AS d
INNER JOIN
(
    -- the charges of those alone
    SELECT account, id AS booking, number, arrayFilter(c -> c.type = 'tax',
        JSONExtract(body, 'charges', 'Array(Tuple(type String, description String, tax_rate_bp Int64))')) AS taxes
    FROM bookings FINAL
    WHERE updated_at < fromUnixTimestamp64Milli({until:Int64}, 'UTC') AND (account, id) IN (SELECT account, booking FROM differing)
) AS b ON b.account = d.account AND b.booking = d.booking
WHERE arrayFirst(c -> c.description = d.name, b.taxes).tax_rate_bp != 0 OR found != 0
ORDER BY account, key, day
LIMIT {limit:UInt32} BY account
SETTINGS do_not_merge_across_partitions_select_final = 1
