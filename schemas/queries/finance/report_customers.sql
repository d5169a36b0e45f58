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
-- currency, counts are of all. Costs of rentals are not in it. Bookings are read once: a customer's rentals of the span are put together
-- as arrays, beside the first one ever, by the time and the id in one number; taken apart again, the one that is the customer's first,
-- or first in its row (nth_here), counts the customer. What a rental counts in is a number (its place), 0 for what has no key. The totals
-- are of the same reads; by tag a rental stands once for each tag of its vehicle (again), and counts once in them.
-- EXPLAIN indexes=1: bookings by the account; ledger_months by account and month, and of the month in which the span ends ledger_entries
-- by account and local_date.
WITH income AS (
    SELECT arrayJoin(arrayFilter((a, m) -> m IN ('revenue_time', 'revenue_mileage', 'revenue_extras', 'revenue_protection', 'revenue_fees',
        'revenue_damage', 'discounts', 'refunds', 'platform_fees'), {accounts:Array(String)}, {measures:Array(String)}))
),
    (SELECT groupUniqArray(if(channel = '', 'direct', channel)) FROM bookings WHERE account = {account:UInt64} AND {group:String} = 'channel') AS ways,
    arrayConcat(CAST([], 'Array(String)')/*if by_traits*/, (SELECT groupUniqArray(key) FROM (/*query vehicle_keys*/))/*end by_traits*/) AS names,
    {group:String} IN ('day', 'week', 'month', 'quarter', 'year') AS by_time
SELECT grouping(place) AS everything,
    multiIf(everything != 0, '', by_time, toString(toDate32(toInt32(c.place))),
        {group:String} IN ('vehicle', 'class', 'location', 'customer'), toString(c.place),
        {group:String} = 'channel', ways[c.place], names[c.place]) AS key,
    if(everything != 0, countIf(c.nth = 1), countIf(c.nth_here = 1)) AS customers,
    if(everything != 0, countIf(c.nth = 1 AND c.many > 1), countIf(c.nth_here = 2)) AS repeat_customers,
    if(everything != 0, countIf(c.first/*if by_traits*/ AND again = 1/*end by_traits*/), countIf(c.first)) AS new_customers,
    customers - new_customers AS returning_customers, if(everything != 0, sumIf(c.many, c.nth = 1), count()) AS rentals,
    rentals - new_customers AS returning_rentals,
    if(everything != 0, sumIf(c.net, true/*if by_traits*/ AND again = 1/*end by_traits*/), sum(c.net)) AS billed,
    if(everything != 0, countIf(c.nth = 1 AND l.customer != 0), countIf(c.nth_here = 1 AND l.customer != 0)) AS paying_customers,
    if(paying_customers = 0, NULL, if(everything != 0, sumIf(l.net, c.nth = 1), sumIf(l.net, c.nth_here = 1))) AS lifetime_net
FROM (
    SELECT customer, place, net, booking = first_ever AS first, many, nth, nth_here/*if by_traits*/, again/*end by_traits*/
    FROM (
        SELECT customer, toUInt64(min(bitShiftLeft(toInt128(toUnixTimestamp64Milli(at)), 64) + id)) AS first_ever,
            groupArrayIf(id, wanted) AS ids, groupArrayIf(place, wanted) AS places, groupArrayIf(net, wanted) AS nets,
            /*if by_traits*/arrayEnumerateUniq(ids) AS times, /*end by_traits*/
            toUInt64(length(ids)/*if by_traits*/ - arrayCount(n -> n > 1, times)/*end by_traits*/) AS many
        FROM (
            SELECT multiIf(by_time, toUInt64(toInt32(dateTrunc(if({group:String} IN ('week', 'month', 'quarter', 'year'), {group:String}, 'day'), b.day))),
                    {group:String} = 'class', b.class, {group:String} = 'location', b.location, {group:String} = 'customer', b.customer,
                    {group:String} = 'channel', indexOf(ways, b.channel), {group:String} = 'vehicle', b.vehicle, 0/*if by_traits*/ + keys.number/*end by_traits*/) AS place,
                b.customer AS customer, b.net AS net, b.id AS id, b.at AS at, b.wanted AS wanted
            FROM (
                SELECT id, actual_return_at AS at, leg_vehicles[-1] AS vehicle, toUInt64OrZero(substring(vehicle_class_id, 5)) AS class,
                    toUInt64OrZero(substring(pickup_location_id, 5)) AS location, CAST(if(bookings.channel = '', 'direct', bookings.channel), 'String') AS channel,
                    toUInt64OrZero(substring(customer_id, 5)) AS customer, if(currency = {currency:String}, total_minor - tax_minor, 0) AS net,
                    -- of rentals that are too old for the span nobody asks their day
                    multiIf(returned_on > toDate32('1970-01-01'), returned_on, at < toDateTime64({from:Date32}, 3, 'UTC') - INTERVAL 1 DAY, returned_on,
                        toDate32(formatDateTime(actual_return_at, '%F', if(timezone = '', if({zone:String} = '', 'UTC', {zone:String}), timezone)))) AS day,
                    day BETWEEN {from:Date32} AND {to:Date32}
                        AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
                        AND (empty({classes:Array(UInt64)}) OR class IN {classes:Array(UInt64)})
                        AND (empty({locations:Array(UInt64)}) OR location IN {locations:Array(UInt64)})
                        AND (empty({channels:Array(String)}) OR channel IN {channels:Array(String)})
                        AND (empty({customers:Array(UInt64)}) OR customer IN {customers:Array(UInt64)})
                        /*if chosen*/AND (empty({owners:Array(UInt64)}) AND empty({tags:Array(String)}) AND empty({makes:Array(String)}) AND empty({models:Array(String)})
                            OR vehicle IN (/*query vehicles_held*/))/*end chosen*/ AS wanted
                FROM bookings FINAL
                WHERE account = {account:UInt64} AND archived_at IS NULL AND status = 'completed' AND customer != 0
                    AND actual_return_at < toDateTime64({to:Date32}, 3, 'UTC') + INTERVAL 2 DAY
            ) AS b
            /*if by_traits*/LEFT JOIN (
                SELECT vehicle, if(key = '', 0, indexOf(names, key)) AS number FROM (/*query vehicle_keys*/)
            ) AS keys ON keys.vehicle = b.vehicle/*end by_traits*/
        )
        GROUP BY customer
        HAVING notEmpty(ids)
    )
    ARRAY JOIN ids AS booking, places AS place, nets AS net, arrayEnumerate(ids) AS nth, arrayEnumerateUniq(places) AS nth_here/*if by_traits*/, times AS again/*end by_traits*/
) AS c
LEFT JOIN (
    SELECT customer, -sum(amount) AS net
    FROM (
        SELECT customer, amount
        FROM ledger_months
        WHERE account = {account:UInt64} AND month < makeDate32(toYear({to:Date32} + 1), toMonth({to:Date32} + 1), 1)
            AND currency = {currency:String} AND customer != 0 AND ledger_account IN income
        UNION ALL
        SELECT customer, amount
        FROM ledger_entries FINAL
        WHERE account = {account:UInt64} AND local_date BETWEEN makeDate32(toYear({to:Date32} + 1), toMonth({to:Date32} + 1), 1) AND {to:Date32}
            AND currency = {currency:String} AND customer != 0 AND ledger_account IN income
    )
    GROUP BY customer
) AS l ON l.customer = c.customer
GROUP BY GROUPING SETS ((place), ())
HAVING count() > 0 AND ({totals_by_tag:Bool} OR NOT everything)
SETTINGS do_not_merge_across_partitions_select_final = 1, short_circuit_function_evaluation = 'force_enable'
