-- report: Quotes
-- about: Quotes by when they were made, and what came of them.
-- bases: accrual
-- groups: total day week month quarter year class location channel customer
-- places: quote
-- figure quotes count: Quotes made in the span.
-- figure accepted count: Of these, quotes that became a booking, be it a hold.
-- figure confirmed count: Of these, quotes whose booking was confirmed, whatever became of it later.
-- figure expired count: Quotes that nobody accepted before they ran out.
-- figure value money: What the quotes came to, with taxes.
-- figure confirmed_value money: Of this, the value of those whose booking was confirmed.
-- ratio conversion percent = confirmed / quotes: Quotes whose booking was confirmed of all.
-- ratio value_conversion percent = confirmed_value / value: The value of those quotes of that of all.
-- A quote is of the local day on which it was made in the account's zone. Money is of quotes in the currency, counts are of all.
-- EXPLAIN indexes=1: quotes and bookings by the account.
SELECT
    multiIf(
        {group:String} = 'total', '',
        {group:String} = 'class', toString(class),
        {group:String} = 'location', toString(location),
        {group:String} = 'channel', channel,
        {group:String} = 'customer', toString(customer),
        toString(toDate32(dateTrunc(if({group:String} IN ('week', 'month', 'quarter', 'year'), {group:String}, 'day'), day)))) AS key,
    count() AS quotes, countIf(q.booking != 0) AS accepted, countIf(sure) AS confirmed,
    countIf(q.booking = 0 AND expires_at < now64(3)) AS expired,
    sumIf(total_amount, currency = {currency:String}) AS value, sumIf(total_amount, sure AND currency = {currency:String}) AS confirmed_value
FROM (
    SELECT toUInt64OrZero(substring(booking_id, 5)) AS booking, toUInt64OrZero(substring(vehicle_class_id, 5)) AS class,
        toUInt64OrZero(substring(pickup_location_id, 5)) AS location, CAST(if(quotes.channel = '', 'direct', quotes.channel), 'String') AS channel,
        toUInt64OrZero(substring(customer_id, 5)) AS customer, total_amount, currency, expires_at,
        toDate32(formatDateTime(created_at, '%F', if({zone:String} = '', 'UTC', {zone:String}))) AS day,
        booking IN (
            SELECT id FROM bookings FINAL
            WHERE account = {account:UInt64} AND (confirmed_at > toDateTime64(0, 3, 'UTC') OR status IN ('confirmed', 'active', 'completed', 'no_show'))
        ) AS sure
    FROM quotes FINAL
    WHERE account = {account:UInt64} AND archived_at IS NULL
        AND created_at >= toDateTime64({from:Date32}, 3, 'UTC') - INTERVAL 1 DAY
        AND created_at < toDateTime64({to:Date32}, 3, 'UTC') + INTERVAL 2 DAY AND day BETWEEN {from:Date32} AND {to:Date32}
        AND (empty({classes:Array(UInt64)}) OR class IN {classes:Array(UInt64)})
        AND (empty({locations:Array(UInt64)}) OR location IN {locations:Array(UInt64)})
        AND (empty({channels:Array(String)}) OR channel IN {channels:Array(String)})
        AND (empty({customers:Array(UInt64)}) OR customer IN {customers:Array(UInt64)})
) AS q
GROUP BY key
SETTINGS do_not_merge_across_partitions_select_final = 1
