-- report: Customers
-- about: How many customers came, how many of them again, and what they have brought in so far.
-- bases: accrual
-- groups: total day week month quarter year vehicle make model class location channel customer owner tag
-- places: booking
-- figure customers distinct: Customers of whom a rental ended in the span: those whose vehicle came back.
-- figure repeat_customers distinct: Of these, customers with two such rentals or more.
-- figure new_customers distinct: Of these, customers whose first rental ever it was: in the span, or in the time of the row.
-- figure returning_customers distinct: Of these, customers who had rented before.
-- figure rentals count: Rentals that ended in the span.
-- figure returning_rentals count: Of these, rentals that were not their customer's first.
-- figure billed money: What those of these rentals that are in the currency come to without taxes, with all that is posted by now.
-- figure lifetime_net amount: What the books have of the customers in the currency from their first day through the end of the span:
--   revenue less discounts, refunds and what platforms keep, without taxes and tolls passed on; fees of cancelled bookings too.
--   Null where the books have nothing of any of them; 0 is what came to nothing.
-- figure paying_customers distinct: Of the customers, those of whom the books have such: those of whom lifetime_net is.
-- ratio repeat_rate percent = repeat_customers / customers: Customers with two rentals or more of all, in the span.
-- ratio returning_share percent = returning_customers / customers: Customers who had rented before of all.
-- ratio lifetime_value money = lifetime_net / paying_customers: What a customer has brought in so far, on average of those with
--   bookings in the currency.
-- ratio customer_rentals ratio = rentals / customers: Rentals of a customer, on average.
-- A rental is of the local day of its return in the zone of the booking. Bookings without a customer are left out. Money is of the
-- currency, counts are of all. Costs of rentals are not in it. What a rental was is a fact (rental_sums), read once: a customer's rentals of the
-- span are put together as arrays, beside what the first one ever counts in, by the time and the id in one number; taken apart again, the one
-- that is the customer's first, or first in its row (nth_here), counts the customer. What a rental counts in is a number (its place), 0 for what
-- has no key. The totals are of the same reads; by tag a rental stands once for each tag of its vehicle (again), and counts once in them.
-- What customers have brought in is a fact too, by months (customer_sums); of the month in which the span ends entries say it.
-- EXPLAIN indexes=1: rental_sums by account, and by day_minmax; customer_sums by account and currency, and of the month in which the span ends
-- ledger_entries by account and local_date.
WITH income AS (
    SELECT arrayJoin(arrayFilter((a, m) -> m IN ('revenue_time', 'revenue_mileage', 'revenue_extras', 'revenue_protection', 'revenue_fees',
        'revenue_damage', 'discounts', 'refunds', 'platform_fees'), {accounts:Array(String)}, {measures:Array(String)}))
),
    (SELECT groupUniqArray(toString(channel)) FROM rental_sums WHERE account = {account:UInt64} AND {group:String} = 'channel') AS ways,
    arrayConcat(CAST([], 'Array(String)')/*if by_keys*/, (SELECT groupUniqArray(key) FROM (/*query vehicle_keys*/))/*end by_keys*/) AS names,
    {group:String} = 'tag' AS by_tags,
    -- the month of which the span has a part, or that after it
    makeDate32(toYear({to:Date32} + 1), toMonth({to:Date32} + 1), 1) AS part_of, {group:String} IN ('day', 'week', 'month', 'quarter', 'year') AS by_time
SELECT grouping(place) AS everything,
    multiIf(everything != 0, '', by_time, toString(toDate32(toInt32(c.place))),
        {group:String} IN ('vehicle', 'class', 'location', 'customer'), toString(c.place),
        {group:String} = 'channel', ways[c.place], names[c.place]) AS key,
    if(everything != 0, countIf(c.nth = 1), countIf(c.nth_here = 1)) AS customers,
    if(everything != 0, countIf(c.nth = 1 AND c.many > 1), countIf(c.nth_here = 2)) AS repeat_customers,
    if(everything != 0, countIf(c.first/*if by_tags*/ AND again = 1/*end by_tags*/), countIf(c.first)) AS new_customers,
    customers - new_customers AS returning_customers, if(everything != 0, sumIf(c.many, c.nth = 1), count()) AS rentals,
    rentals - new_customers AS returning_rentals,
    if(everything != 0, sumIf(c.net, true/*if by_tags*/ AND again = 1/*end by_tags*/), sum(c.net)) AS billed,
    if(everything != 0, countIf(c.nth = 1 AND l.customer != 0), countIf(c.nth_here = 1 AND l.customer != 0)) AS paying_customers,
    if(paying_customers = 0, NULL, if(everything != 0, sumIf(l.net, c.nth = 1), sumIf(l.net, c.nth_here = 1))) AS lifetime_net
FROM (
    SELECT customer, place, net, many,
        multiIf(/*if by_tags*/by_tags, booking = first_ever, /*end by_tags*/nth_here = 1 AND place + 1 = first_place, true, false) AS first,
        nth, nth_here/*if by_tags*/, again/*end by_tags*/
    FROM (
        SELECT customer, argMin(if(wanted, place + 1, 0), bitShiftLeft(toInt128(toUnixTimestamp64Milli(at)), 64) + id) AS first_place,
            groupArrayIf(place, wanted) AS places, groupArrayIf(net, wanted) AS nets,
            /*if by_tags*/toUInt64(min(bitShiftLeft(toInt128(toUnixTimestamp64Milli(at)), 64) + id)) AS first_ever, groupArrayIf(id, wanted) AS ids, arrayEnumerateUniq(ids) AS times, /*end by_tags*/
            toUInt64(length(places)/*if by_tags*/ - arrayCount(n -> n > 1, times)/*end by_tags*/) AS many
        FROM (
            SELECT multiIf(by_time, toUInt64(toInt32(dateTrunc(if({group:String} IN ('week', 'month', 'quarter', 'year'), {group:String}, 'day'), b.day))),
                    {group:String} = 'class', b.class, {group:String} = 'location', b.location, {group:String} = 'customer', b.customer,
                    {group:String} = 'channel', indexOf(ways, b.channel), {group:String} = 'vehicle', b.vehicle, 0/*if by_keys*/ + keys.number/*end by_keys*/) AS place,
                b.customer AS customer, b.net AS net, b.id AS id, b.at AS at, b.wanted AS wanted
            FROM (
                SELECT booking AS id, returned_at AS at, vehicle, class, location, toString(rental_sums.channel) AS channel, customer,
                    if(currency = {currency:String}, billed, 0) AS net, rental_sums.day AS day,
                    day BETWEEN {from:Date32} AND {to:Date32}
                        AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
                        AND (empty({classes:Array(UInt64)}) OR class IN {classes:Array(UInt64)})
                        AND (empty({locations:Array(UInt64)}) OR location IN {locations:Array(UInt64)})
                        AND (empty({channels:Array(String)}) OR channel IN {channels:Array(String)})
                        AND (empty({customers:Array(UInt64)}) OR customer IN {customers:Array(UInt64)})
                        /*if chosen*/AND (empty({owners:Array(UInt64)}) AND empty({tags:Array(String)}) AND empty({makes:Array(String)}) AND empty({models:Array(String)})
                            OR vehicle IN (/*query vehicles_held*/))/*end chosen*/ AS wanted
                FROM rental_sums FINAL
                -- whichever came back before another is, by any zone, of no later day than the one after that
                WHERE account = {account:UInt64} AND completed AND customer != 0 AND rental_sums.day <= addDays({to:Date32}, 1)
            ) AS b
            /*if by_keys*/LEFT JOIN (
                SELECT vehicle, if(key = '', 0, indexOf(names, key)) AS number FROM (/*query vehicle_keys*/)
            ) AS keys ON keys.vehicle = b.vehicle/*end by_keys*/
        )
        GROUP BY customer
        HAVING notEmpty(places)
    )
    ARRAY JOIN places AS place, nets AS net, arrayEnumerate(places) AS nth, arrayEnumerateUniq(places) AS nth_here
        /*if by_tags*/, ids AS booking, times AS again/*end by_tags*/
) AS c
LEFT JOIN (
    SELECT customer, sum(net) AS net
    FROM (
        SELECT customer, arraySum(arrayMap((month, sum) -> if(month < part_of, sum, 0), months, income)) AS net
        FROM customer_sums FINAL
        WHERE account = {account:UInt64} AND currency = {currency:String} AND months[1] < part_of
        UNION ALL
        SELECT customer, -amount
        FROM ledger_entries FINAL
        WHERE account = {account:UInt64} AND local_date BETWEEN part_of AND {to:Date32}
            AND currency = {currency:String} AND customer != 0 AND ledger_account IN income
    )
    GROUP BY customer
) AS l ON l.customer = c.customer
GROUP BY GROUPING SETS ((place), ())
HAVING count() > 0 AND ({totals_by_tag:Bool} OR NOT everything)
SETTINGS do_not_merge_across_partitions_select_final = 1, short_circuit_function_evaluation = 'force_enable'
