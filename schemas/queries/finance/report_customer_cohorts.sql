-- report: Customer cohorts
-- about: Customers by the month of their first rental, and how many of them rented again in each of the twelve months that followed.
-- bases: accrual
-- groups: month total quarter year class location channel
-- places: booking
-- figure customers count: Customers whose first rental ended in the span.
-- figure first_billed money: What they were billed for in that month, without taxes.
-- figure reached_m1 count: Of these customers, those whose first month was 1 month ago or more.
-- figure active_m1 count: Of these, customers of whom a rental ended 1 month after the first month.
-- figure billed_m1 money: What these rentals come to, without taxes.
-- ratio retained_m1 percent = active_m1 / reached_m1: Customers who rented 1 month after their first.
-- figure reached_m2 count: Of these customers, those whose first month was 2 months ago or more.
-- figure active_m2 count: Of these, customers of whom a rental ended 2 months after the first month.
-- figure billed_m2 money: What these rentals come to, without taxes.
-- ratio retained_m2 percent = active_m2 / reached_m2: Customers who rented 2 months after their first.
-- figure reached_m3 count: Of these customers, those whose first month was 3 months ago or more.
-- figure active_m3 count: Of these, customers of whom a rental ended 3 months after the first month.
-- figure billed_m3 money: What these rentals come to, without taxes.
-- ratio retained_m3 percent = active_m3 / reached_m3: Customers who rented 3 months after their first.
-- figure reached_m4 count: Of these customers, those whose first month was 4 months ago or more.
-- figure active_m4 count: Of these, customers of whom a rental ended 4 months after the first month.
-- figure billed_m4 money: What these rentals come to, without taxes.
-- ratio retained_m4 percent = active_m4 / reached_m4: Customers who rented 4 months after their first.
-- figure reached_m5 count: Of these customers, those whose first month was 5 months ago or more.
-- figure active_m5 count: Of these, customers of whom a rental ended 5 months after the first month.
-- figure billed_m5 money: What these rentals come to, without taxes.
-- ratio retained_m5 percent = active_m5 / reached_m5: Customers who rented 5 months after their first.
-- figure reached_m6 count: Of these customers, those whose first month was 6 months ago or more.
-- figure active_m6 count: Of these, customers of whom a rental ended 6 months after the first month.
-- figure billed_m6 money: What these rentals come to, without taxes.
-- ratio retained_m6 percent = active_m6 / reached_m6: Customers who rented 6 months after their first.
-- figure reached_m7 count: Of these customers, those whose first month was 7 months ago or more.
-- figure active_m7 count: Of these, customers of whom a rental ended 7 months after the first month.
-- figure billed_m7 money: What these rentals come to, without taxes.
-- ratio retained_m7 percent = active_m7 / reached_m7: Customers who rented 7 months after their first.
-- figure reached_m8 count: Of these customers, those whose first month was 8 months ago or more.
-- figure active_m8 count: Of these, customers of whom a rental ended 8 months after the first month.
-- figure billed_m8 money: What these rentals come to, without taxes.
-- ratio retained_m8 percent = active_m8 / reached_m8: Customers who rented 8 months after their first.
-- figure reached_m9 count: Of these customers, those whose first month was 9 months ago or more.
-- figure active_m9 count: Of these, customers of whom a rental ended 9 months after the first month.
-- figure billed_m9 money: What these rentals come to, without taxes.
-- ratio retained_m9 percent = active_m9 / reached_m9: Customers who rented 9 months after their first.
-- figure reached_m10 count: Of these customers, those whose first month was 10 months ago or more.
-- figure active_m10 count: Of these, customers of whom a rental ended 10 months after the first month.
-- figure billed_m10 money: What these rentals come to, without taxes.
-- ratio retained_m10 percent = active_m10 / reached_m10: Customers who rented 10 months after their first.
-- figure reached_m11 count: Of these customers, those whose first month was 11 months ago or more.
-- figure active_m11 count: Of these, customers of whom a rental ended 11 months after the first month.
-- figure billed_m11 money: What these rentals come to, without taxes.
-- ratio retained_m11 percent = active_m11 / reached_m11: Customers who rented 11 months after their first.
-- figure reached_m12 count: Of these customers, those whose first month was 12 months ago or more.
-- figure active_m12 count: Of these, customers of whom a rental ended 12 months after the first month.
-- figure billed_m12 money: What these rentals come to, without taxes.
-- ratio retained_m12 percent = active_m12 / reached_m12: Customers who rented 12 months after their first.
-- A rental is of the month of its return in the zone of the booking. The span chooses first rentals; class, location and channel are
-- those of the first rental. Months are counted from the year 0. Money is of the currency, counts are of all. The first rental of a customer
-- is found without putting all of them in order, and only months that are shown are looked at further.
-- EXPLAIN indexes=1: bookings by the account.
SELECT key, sumIf(n, k = 0) AS customers, sumIf(minor, k = 0) AS first_billed,
    sumIf(n, k = 0 AND came + 1 <= present) AS reached_m1, sumIf(n, k = 1) AS active_m1, sumIf(minor, k = 1) AS billed_m1,
    sumIf(n, k = 0 AND came + 2 <= present) AS reached_m2, sumIf(n, k = 2) AS active_m2, sumIf(minor, k = 2) AS billed_m2,
    sumIf(n, k = 0 AND came + 3 <= present) AS reached_m3, sumIf(n, k = 3) AS active_m3, sumIf(minor, k = 3) AS billed_m3,
    sumIf(n, k = 0 AND came + 4 <= present) AS reached_m4, sumIf(n, k = 4) AS active_m4, sumIf(minor, k = 4) AS billed_m4,
    sumIf(n, k = 0 AND came + 5 <= present) AS reached_m5, sumIf(n, k = 5) AS active_m5, sumIf(minor, k = 5) AS billed_m5,
    sumIf(n, k = 0 AND came + 6 <= present) AS reached_m6, sumIf(n, k = 6) AS active_m6, sumIf(minor, k = 6) AS billed_m6,
    sumIf(n, k = 0 AND came + 7 <= present) AS reached_m7, sumIf(n, k = 7) AS active_m7, sumIf(minor, k = 7) AS billed_m7,
    sumIf(n, k = 0 AND came + 8 <= present) AS reached_m8, sumIf(n, k = 8) AS active_m8, sumIf(minor, k = 8) AS billed_m8,
    sumIf(n, k = 0 AND came + 9 <= present) AS reached_m9, sumIf(n, k = 9) AS active_m9, sumIf(minor, k = 9) AS billed_m9,
    sumIf(n, k = 0 AND came + 10 <= present) AS reached_m10, sumIf(n, k = 10) AS active_m10, sumIf(minor, k = 10) AS billed_m10,
    sumIf(n, k = 0 AND came + 11 <= present) AS reached_m11, sumIf(n, k = 11) AS active_m11, sumIf(minor, k = 11) AS billed_m11,
    sumIf(n, k = 0 AND came + 12 <= present) AS reached_m12, sumIf(n, k = 12) AS active_m12, sumIf(minor, k = 12) AS billed_m12
FROM (
    SELECT if({group:String} IN ('total', 'class', 'location', 'channel'), what,
            toString(toDate32(dateTrunc(if({group:String} IN ('quarter', 'year'), {group:String}, 'month'), began)))) AS key,
        came, k, countIf(nth = 1) AS n, sum(net) AS minor, toYear({today:Date32}) * 12 + toMonth({today:Date32}) AS present
    FROM (
        SELECT argMin(day, instant) AS began, argMin(own, instant) AS what, argMin(fits, instant) AS fit,
            toYear(began) * 12 + toMonth(began) AS came, arrayMap(m -> m - came, groupArray(month)) AS after, groupArray(net) AS nets,
            arrayFilter(m -> m <= 12, after) AS ks, arrayFilter((n, m) -> m <= 12, nets, after) AS minors
        FROM (
            SELECT toUInt64OrZero(substring(customer_id, 5)) AS customer,
                -- of those that came back at one instant the one with the smaller id is the first
                bitShiftLeft(toInt128(toUnixTimestamp64Milli(actual_return_at)), 64) + id AS instant,
                if(currency = {currency:String}, total_minor - tax_minor, 0) AS net,
                if(returned_on > toDate32('1970-01-01'), returned_on, toDate32(formatDateTime(actual_return_at, '%F',
                    if(timezone = '', if({zone:String} = '', 'UTC', {zone:String}), timezone)))) AS day,
                toYear(day) * 12 + toMonth(day) AS month,
                toUInt64OrZero(substring(vehicle_class_id, 5)) AS class, toUInt64OrZero(substring(pickup_location_id, 5)) AS location,
                CAST(if(bookings.channel = '', 'direct', bookings.channel), 'String') AS channel,
                multiIf({group:String} = 'class', toString(class), {group:String} = 'location', toString(location), {group:String} = 'channel', channel, '') AS own,
                (empty({classes:Array(UInt64)}) OR class IN {classes:Array(UInt64)})
                    AND (empty({locations:Array(UInt64)}) OR location IN {locations:Array(UInt64)})
                    AND (empty({channels:Array(String)}) OR channel IN {channels:Array(String)}) AS fits
            FROM bookings FINAL
            WHERE account = {account:UInt64} AND archived_at IS NULL AND status = 'completed' AND customer != 0
                AND (empty({customers:Array(UInt64)}) OR customer IN {customers:Array(UInt64)})
        )
        GROUP BY customer
        HAVING began BETWEEN {from:Date32} AND {to:Date32} AND fit
    )
    ARRAY JOIN ks AS k, minors AS net, arrayEnumerateUniq(ks) AS nth
    GROUP BY key, came, k
)
GROUP BY key
SETTINGS do_not_merge_across_partitions_select_final = 1, short_circuit_function_evaluation = 'force_enable'
