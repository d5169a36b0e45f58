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
-- currency, counts are of all. Costs of rentals are not in it. Whose first rental one was is looked up among those that were the first
-- of a customer, by the time and the id in one number: a third of the work of windows over all of them. What a rental counts in is a
-- number (its place) until customers are counted, 0 for what has no key. The totals are of the same reads, grouped by the customer alone, also by tag: of the
-- tags of a vehicle only the first counts there. EXPLAIN indexes=1: bookings by the account; ledger_months by
-- account and month, and of the month in which the span ends ledger_entries by account and local_date.
WITH income AS (
    SELECT arrayJoin(arrayFilter((a, m) -> m IN ('revenue_time', 'revenue_mileage', 'revenue_extras', 'revenue_protection', 'revenue_fees',
        'revenue_damage', 'discounts', 'refunds', 'platform_fees'), {accounts:Array(String)}, {measures:Array(String)}))
),
    (SELECT groupUniqArray(if(channel = '', 'direct', channel)) FROM bookings WHERE account = {account:UInt64} AND {group:String} = 'channel') AS ways,
    arrayConcat(CAST([], 'Array(String)')/*if by_traits*/, (SELECT groupUniqArray(key) FROM (/*query vehicle_keys*/))/*end by_traits*/) AS names,
    {group:String} IN ('day', 'week', 'month', 'quarter', 'year') AS by_time
SELECT c.everything AS everything,
    multiIf(c.everything != 0, '', by_time, toString(toDate32(toInt32(c.place))),
        {group:String} IN ('vehicle', 'class', 'location', 'customer'), toString(c.place),
        {group:String} = 'channel', ways[c.place], names[c.place]) AS key,
    count() AS customers, countIf(c.n > 1) AS repeat_customers, countIf(c.fresh) AS new_customers,
    countIf(NOT c.fresh) AS returning_customers, sum(c.n) AS rentals, rentals - new_customers AS returning_rentals, sum(c.billed) AS billed,
    countIf(l.customer != 0) AS paying_customers, if(paying_customers = 0, NULL, sum(l.net)) AS lifetime_net
FROM (
    SELECT
        multiIf(by_time, toUInt64(toInt32(dateTrunc(if({group:String} IN ('week', 'month', 'quarter', 'year'), {group:String}, 'day'), b.day))),
            {group:String} = 'class', b.class, {group:String} = 'location', b.location, {group:String} = 'customer', b.customer,
            {group:String} = 'channel', indexOf(ways, b.channel), {group:String} = 'vehicle', b.vehicle, 0/*if by_traits*/ + keys.number/*end by_traits*/) AS place,
        b.customer AS customer, grouping(place) AS everything, max(b.first) AS fresh,
        if(everything != 0, countIf(true/*if by_traits*/ AND NOT keys.further/*end by_traits*/), count()) AS n, if(everything != 0, sumIf(b.net, true/*if by_traits*/ AND NOT keys.further/*end by_traits*/), sum(b.net)) AS billed
    FROM (
        SELECT leg_vehicles[-1] AS vehicle, toUInt64OrZero(substring(vehicle_class_id, 5)) AS class,
            toUInt64OrZero(substring(pickup_location_id, 5)) AS location, CAST(if(bookings.channel = '', 'direct', bookings.channel), 'String') AS channel,
            toUInt64OrZero(substring(customer_id, 5)) AS customer, if(currency = {currency:String}, total_minor - tax_minor, 0) AS net,
            if(returned_on > toDate32('1970-01-01'), returned_on, toDate32(formatDateTime(actual_return_at, '%F',
                if(timezone = '', if({zone:String} = '', 'UTC', {zone:String}), timezone)))) AS day,
            id IN (
                SELECT toUInt64(min(bitShiftLeft(toInt128(toUnixTimestamp64Milli(actual_return_at)), 64) + id))
                FROM bookings FINAL
                WHERE account = {account:UInt64} AND archived_at IS NULL AND status = 'completed'
                    AND actual_return_at < toDateTime64({to:Date32}, 3, 'UTC') + INTERVAL 2 DAY
                GROUP BY toUInt64OrZero(substring(customer_id, 5))
            ) AS first
        FROM bookings FINAL
        WHERE account = {account:UInt64} AND archived_at IS NULL AND status = 'completed' AND customer != 0
            AND actual_return_at >= toDateTime64({from:Date32}, 3, 'UTC') - INTERVAL 1 DAY
            AND actual_return_at < toDateTime64({to:Date32}, 3, 'UTC') + INTERVAL 2 DAY
            AND day BETWEEN {from:Date32} AND {to:Date32}
            AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
            AND (empty({classes:Array(UInt64)}) OR class IN {classes:Array(UInt64)})
            AND (empty({locations:Array(UInt64)}) OR location IN {locations:Array(UInt64)})
            AND (empty({channels:Array(String)}) OR channel IN {channels:Array(String)})
            AND (empty({customers:Array(UInt64)}) OR customer IN {customers:Array(UInt64)})
            /*if chosen*/AND (empty({owners:Array(UInt64)}) AND empty({tags:Array(String)}) AND empty({makes:Array(String)}) AND empty({models:Array(String)})
                OR vehicle IN (/*query vehicles_held*/))/*end chosen*/
    ) AS b
    /*if by_traits*/LEFT JOIN (
        SELECT vehicle, if(key = '', 0, indexOf(names, key)) AS number, row_number() OVER (PARTITION BY vehicle) > 1 AS further FROM (/*query vehicle_keys*/)
    ) AS keys ON keys.vehicle = b.vehicle/*end by_traits*/
    GROUP BY GROUPING SETS ((place, customer), (customer))
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
WHERE {totals_by_tag:Bool} OR NOT everything
GROUP BY everything, place
SETTINGS do_not_merge_across_partitions_select_final = 1, short_circuit_function_evaluation = 'force_enable'
