-- Makes what an account's bookings were agreed to bring and when they were on the books, of those in chosen, all of which are
-- among first and last, and writes what differs from what stands. zone is the account's.
-- A booking is on the books at the end of a day if it was confirmed by then, and not given up until then: cancelled, lapsed or a no-show.
-- Billed are the days of its frozen price; of one that has none, such as an imported one, so many from its pickup on as it says, else as its
-- planned time has, and one at least. What was agreed is its price without taxes, and without what is only known later (tolls, damage, fees of
-- cancelling or of a late return): by the frozen price, and of an imported booking by the lines that were not reversed. It is divided
-- among the days in proportion to their prices, or evenly where there are none, and what is left over by rounding goes to the later ones.
-- How many days it has, and what was agreed, is as the booking stands now: an extension is taken for known since the confirmation, which the
-- revision log would tell apart at the cost of reading every revision of every booking.
-- EXPLAIN indexes=1: bookings and booking_sums by account and id.
-- External: chosen (booking UInt64)
INSERT INTO booking_sums (account, booking, computed_at, on_books, vehicle, class, location, channel, customer, currency, confirmed_on, ended_on, first,
    last, days, agreed, agreed_time, months, month_days, month_agreed)
WITH
    (sum, upto) -> arrayPopFront(arrayDifference(arrayMap(u -> intDiv(sum * u, upto[-1]), upto))) AS divided,
    (kinds, ls) -> arraySum(l -> if(l.reversal_of = '' AND has(kinds, l.type), l.amount.amount, 0), ls) AS of_kinds
SELECT {account:UInt64}, b.booking, fromUnixTimestamp64Milli(greatest(toUnixTimestamp64Milli(now64(3)), s.made_at + 1), 'UTC'), b.on_books, b.vehicle, b.class,
    b.location, b.channel, b.customer, b.currency, b.confirmed_on, b.ended_on, b.first, b.last, b.days, b.agreed, b.agreed_time, b.months, b.month_days,
    b.month_agreed
FROM
(
    SELECT id AS booking, archived_at IS NULL AND (confirmed_at > toDateTime64(0, 3, 'UTC') OR status IN ('confirmed', 'active', 'completed')) AS on_books,
        leg_vehicles[-1] AS vehicle, toUInt64OrZero(substring(vehicle_class_id, 5)) AS class, toUInt64OrZero(substring(pickup_location_id, 5)) AS location,
        toString(if(bookings.channel = '', 'direct', bookings.channel)) AS channel, toUInt64OrZero(substring(customer_id, 5)) AS customer,
        toString(bookings.currency) AS currency,
        -- a zone that the server does not know must stop no facts
        multiIf(timezone IN (SELECT time_zone FROM system.time_zones), toString(timezone), {zone:String} = '', 'UTC', {zone:String}) AS local,
        toDate32(formatDateTime(if(confirmed_at > toDateTime64(0, 3, 'UTC'), confirmed_at, created_at), '%F', local)) AS confirmed_on,
        if(status NOT IN ('cancelled', 'no_show', 'expired'), toDate32('2299-12-31'),
            toDate32(formatDateTime(if(cancelled_at > toDateTime64(0, 3, 'UTC'), cancelled_at, status_since), '%F', local))) AS ended_on,
        JSONExtract(body, 'Tuple(
            rate_snapshot Tuple(days Array(Tuple(date String, amount Tuple(amount Int64))),
                lines Array(Tuple(type String, reversal_of String, amount Tuple(amount Int64)))),
            charges Array(Tuple(type String, reversal_of String, amount Tuple(amount Int64))))') AS said,
        arrayMap(d -> toDate32OrZero(d.date), said.rate_snapshot.days) AS billed_on, arrayMap(d -> d.amount.amount, said.rate_snapshot.days) AS prices,
        if(JSONHas(body, 'rate_snapshot', 'lines'), said.rate_snapshot.lines, said.charges) AS lines,
        if(notEmpty(billed_on), billed_on, arrayMap(i -> addDays(toDate32(formatDateTime(pickup_at, '%F', local)), i), range(toUInt64(
            greatest(1, least(3660, if(billed_days > 0, toInt64(billed_days), dateDiff('day', pickup_at, return_at)))))))) AS days,
        arrayPushFront(arrayCumSum(if(notEmpty(prices) AND arrayMin(prices) >= 0 AND arraySum(prices) > 0, prices,
            arrayMap(d -> toInt64(1), days))), 0) AS upto,
        divided(of_kinds(['time', 'mileage', 'discount', 'promo', 'extra', 'protection', 'delivery', 'one_way', 'young_driver', 'additional_driver'],
            lines), upto) AS agreed,
        divided(of_kinds(['time', 'mileage', 'discount', 'promo'], lines), upto) AS agreed_time,
        arrayMin(days) AS first, arrayMax(days) AS last, arrayMap(d -> addDays(d, 1 - toDayOfMonth(d)), days) AS month_of,
        arraySort(arrayDistinct(month_of)) AS months, arrayMap(m -> toInt64(countEqual(month_of, m)), months) AS month_days,
        arrayMap(m -> arraySum(arrayMap((sum, of) -> if(of = m, sum, 0), agreed, month_of)), months) AS month_agreed
    FROM bookings FINAL
    WHERE account = {account:UInt64} AND id BETWEEN {first:UInt64} AND {last:UInt64} AND id IN (SELECT booking FROM chosen)
) AS b
LEFT JOIN
(
    SELECT booking, toUnixTimestamp64Milli(computed_at) AS made_at, cityHash64(on_books, vehicle, class, location, toString(channel), customer,
        toString(currency), confirmed_on, ended_on, first, last, days, agreed, agreed_time, months, month_days, month_agreed) AS was
    FROM booking_sums FINAL
    WHERE account = {account:UInt64} AND booking BETWEEN {first:UInt64} AND {last:UInt64}
        AND booking IN (SELECT booking FROM chosen)
) AS s ON s.booking = b.booking
WHERE (b.on_books OR s.made_at != 0) AND s.was != cityHash64(b.on_books, b.vehicle, b.class, b.location, b.channel, b.customer, b.currency, b.confirmed_on,
    b.ended_on, b.first, b.last, b.days, b.agreed, b.agreed_time, b.months, b.month_days, b.month_agreed)
SETTINGS do_not_merge_across_partitions_select_final = 1
