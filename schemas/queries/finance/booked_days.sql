-- What pace is made of, in reports and forecasts: each booking that ever was on the books and has billed days from a year
-- before the local day `from` on until `to`, with the days that it is billed and what was agreed for each. A part of other
-- queries.
-- A booking is on the books at the end of a day if it was confirmed on that day or before, and was not given up until then:
-- cancelled, lapsed or a no-show. confirmed and ended are the days on which that was; ended is 2299 if it never was.
-- Days are local where the booking is. Billed are those of its frozen price; of one that has none, such as an imported one,
-- so many from its pickup on as it says, else as its planned time has, and one at least. What was agreed is agreed_minor,
-- without taxes and what is only known later; it is divided among the days in proportion to their prices, or evenly where
-- there are none, and what is left over by rounding goes to the later ones. time_minors is the part for time and miles.
-- How many days it has, and what was agreed, is as the booking stands now: an extension is taken for known since the
-- confirmation, which the revision log would tell apart at the cost of reading every revision of every booking.
-- The class is the one that was booked, or that of its vehicle where none was.
-- EXPLAIN indexes=1: bookings by the account, the days by billed_until_minmax and pickup_at_minmax; vehicles by account.
SELECT b.vehicle AS vehicle, if(b.booked = 0, traits.class, b.booked) AS class, location, channel, customer, currency, confirmed, ended, days,
    if(notEmpty(billed_minor) AND arrayMin(billed_minor) >= 0 AND arraySum(billed_minor) > 0, billed_minor, arrayMap(d -> toInt64(1), days)) AS weights,
    arrayCumSum(weights) AS upto,
    arrayMap((w, u) -> intDiv(agreed_minor * u, upto[-1]) - intDiv(agreed_minor * (u - w), upto[-1]), weights, upto) AS minors,
    arrayMap((w, u) -> intDiv(agreed_time_minor * u, upto[-1]) - intDiv(agreed_time_minor * (u - w), upto[-1]), weights, upto) AS time_minors
FROM
(
    SELECT leg_vehicles[-1] AS vehicle, toUInt64OrZero(substring(vehicle_class_id, 5)) AS booked,
        toUInt64OrZero(substring(pickup_location_id, 5)) AS location, CAST(if(bookings.channel = '', 'direct', bookings.channel), 'String') AS channel,
        toUInt64OrZero(substring(customer_id, 5)) AS customer, currency, agreed_minor, agreed_time_minor, billed_minor,
        if(timezone = '', if({zone:String} = '', 'UTC', {zone:String}), timezone) AS local,
        toDate32(formatDateTime(if(confirmed_at > toDateTime64(0, 3, 'UTC'), confirmed_at, created_at), '%F', local)) AS confirmed,
        if(status NOT IN ('cancelled', 'no_show', 'expired'), toDate32('2299-12-31'), toDate32(formatDateTime(
            if(cancelled_at > toDateTime64(0, 3, 'UTC'), cancelled_at, status_since), '%F', local))) AS ended,
        toDate32(formatDateTime(pickup_at, '%F', local)) AS first,
        if(notEmpty(billed_on), billed_on, arrayMap(i -> addDays(first, i), range(toUInt64(
            greatest(1, least(3660, if(billed_days > 0, toInt64(billed_days), dateDiff('day', pickup_at, return_at)))))))) AS days
    FROM bookings FINAL
    WHERE account = {account:UInt64} AND archived_at IS NULL
        AND (confirmed_at > toDateTime64(0, 3, 'UTC') OR status IN ('confirmed', 'active', 'completed'))
        AND billed_until > addYears({from:Date32}, -1) AND pickup_at < toDateTime64({to:Date32} + 2, 3, 'UTC')
) AS b
LEFT JOIN vehicle_traits AS traits ON traits.account = {account:UInt64} AND traits.vehicle = b.vehicle
