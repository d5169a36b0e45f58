-- Makes on what the taxes of an account's bookings were charged, of those in chosen, all of which are among first and last, and
-- writes what differs from what stands. Entries do not say on what a tax was charged, and papers do not stand for every booking; the charges
-- of a booking say it (points): for each of its tax lines in order the name of the tax, its rate in hundredths of a percent (0 if nobody
-- knows it, as of imported bookings), what it came to so far, and the net amount on which that is charged. That is all that is taxable of the
-- lines so far where the tax is that of it, else, where somebody waived tax, what the tax that is left is charged on. The rate is that of
-- all rates of which anything stands: one that was taken back, as when the booking moved to where the tax of that name has another, is none
-- of the tax any more. Of a line that leaves nothing of a tax it is by all rates that the tax had.
-- Entries of a booking and tax in the order in which they became known, what is taken back first, come to the same sums, so that each
-- entry's net amount is that after it less that before it, and those of a booking add up to its own. What comes to a sum in between is
-- divided by the rate. Entries are none of a day before all that the booking says when it was, or that ledger_flows has of it.
-- EXPLAIN indexes=1: bookings and tax_bases by account and id; ledger_flows by account and ledger_account; ledger_entries by account, the
-- months from the first booking on, and booking_bloom.
-- External: chosen (booking UInt64)
INSERT INTO tax_bases (account, booking, local_date, name, location, channel, currency, computed_at, base, known)
WITH
    charged AS
    (
        SELECT id AS booking, toDate32(arrayMin(arrayFilter(at -> toUnixTimestamp64Milli(at) != 0, [created_at, confirmed_at, cancelled_at, pickup_at, actual_pickup_at]))) AS began_on,
            JSONExtract(body, 'charges', 'Array(Tuple(type String, description String, tax_rate_bp Int64, taxable Bool, amount Tuple(amount Int64)))') AS charges
        FROM bookings FINAL
        WHERE account = {account:UInt64} AND id BETWEEN {first:UInt64} AND {last:UInt64}
            AND id IN (SELECT booking FROM chosen)
    ),
    (SELECT if(count() = 0, toDate32('2299-12-31'), min(began_on)) FROM charged) AS begins,
    -- a booking may have been taxed on a day that it knows no more
    (
        SELECT if(count() = 0, begins, least(begins, min(local_date)))
        FROM ledger_flows
        WHERE account = {account:UInt64} AND ledger_account = 'tax_payable' AND booking BETWEEN {first:UInt64} AND {last:UInt64}
            AND booking IN (SELECT booking FROM chosen)
    ) AS first_day,
    -- the net amount of what a tax came to, by the points that its booking has for all its taxes
    (amount, tax, points) -> multiIf(
        amount = 0, 0,
        arrayExists(p -> p.name = tax AND p.tax = amount, points), arrayLast(p -> p.name = tax AND p.tax = amount, points).base,
        arrayFirst(p -> p.name = tax, points).rate_bp = 0, 0,
        toInt64(round(amount * 10000 / arrayFirst(p -> p.name = tax, points).rate_bp))) AS net
SELECT {account:UInt64}, f.booking, f.local_date, f.name, f.location, f.channel, f.currency,
    fromUnixTimestamp64Milli(greatest(toUnixTimestamp64Milli(now64(3)), max(f.made_at) + 1), 'UTC'), sum(f.base) AS fresh_base, sum(f.known) AS fresh_known
FROM
(
    SELECT e.booking AS booking, e.local_date AS local_date, e.name AS name, e.location AS location, e.channel AS channel, e.currency AS currency,
        toInt64(0) AS made_at, net(e.sofar, e.name, b.points) - if(e.sofar = e.posted, 0, net(e.sofar - e.posted, e.name, b.points)) AS base,
        if(arrayFirst(p -> p.name = e.name, b.points).rate_bp != 0, e.posted, 0) AS known, toInt64(0) AS stood_base, toInt64(0) AS stood_known
    FROM
    (
        SELECT booking, local_date, substring(toString(purpose), 6) AS name, location, toString(channel) AS channel, toString(currency) AS currency, -amount AS posted,
            sum(posted) OVER (PARTITION BY booking, currency, name ORDER BY occurred_at, transaction, posted > 0, local_date, entry_no
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS sofar
        FROM ledger_entries FINAL
        PREWHERE account = {account:UInt64} AND local_date >= first_day - 1 AND ledger_account = 'tax_payable' AND booking BETWEEN {first:UInt64} AND {last:UInt64}
            AND booking IN (SELECT booking FROM chosen)
        WHERE kind = 'booking' AND startsWith(purpose, 'tax, ')
    ) AS e
    INNER JOIN
    (
        SELECT booking, CAST(arrayFlatten(arrayMap(
            cs -> arrayMap(
                (name, rates, tax, net) -> (name, arraySum(rates), tax, multiIf(
                    abs(tax * 10000 - net * arraySum(rates)) <= 5000 * length(rates), net,
                    arraySum(rates) = 0, 0,
                    toInt64(round(tax * 10000 / arraySum(rates))))),
                arrayMap(i -> cs[i].2, arrayFilter(i -> cs[i].1 = 'tax', arrayEnumerate(cs)) AS places),
                arrayMap((had, stand) -> if(empty(stand), had, stand),
                    arrayMap(i -> arrayDistinct(arrayMap(c -> c.3, arrayFilter(c -> c.1 = 'tax' AND c.2 = cs[i].2, cs))), places),
                    arrayMap(i -> arrayFilter(
                        rate -> arraySum(arrayMap(c -> if(c.1 = 'tax' AND c.2 = cs[i].2 AND c.3 = rate, c.5.1, 0), arraySlice(cs, 1, i))) != 0,
                        arrayDistinct(arrayMap(c -> c.3, arrayFilter(c -> c.1 = 'tax' AND c.2 = cs[i].2, cs)))), places)),
                arrayMap(i -> arraySum(arrayMap(c -> if(c.1 = 'tax' AND c.2 = cs[i].2, c.5.1, 0), arraySlice(cs, 1, i))), places),
                arrayMap(i -> greatest(0, arraySum(arrayMap(c -> if(c.4 AND c.1 NOT IN ('tax', 'platform_fee'), c.5.1, 0), arraySlice(cs, 1, i)))), places)),
            [charges])), 'Array(Tuple(name String, rate_bp Int64, tax Int64, base Int64))') AS points
        FROM charged
    ) AS b ON b.booking = e.booking
    UNION ALL
    SELECT booking, local_date, toString(name), location, toString(channel), toString(currency), toUnixTimestamp64Milli(computed_at), 0, 0, base, known
    FROM tax_bases FINAL
    WHERE account = {account:UInt64} AND booking BETWEEN {first:UInt64} AND {last:UInt64}
        AND booking IN (SELECT booking FROM chosen)
) AS f
GROUP BY f.booking, f.local_date, f.name, f.location, f.channel, f.currency
HAVING (fresh_base, fresh_known) != (sum(f.stood_base), sum(f.stood_known))
SETTINGS do_not_merge_across_partitions_select_final = 1
