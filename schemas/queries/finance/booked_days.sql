-- What pace is made of, in reports and forecasts: each booking that ever was on the books and has billed days from a year
-- before the local day `from` on until `to`, with the days that it is billed and what was agreed for each. A part of other
-- queries.
-- A booking is on the books at the end of a day if it was confirmed by then, and not given up until then: cancelled, lapsed
-- or a no-show. confirmed_ms and ended_ms are the instants of that; ended_ms is in 2299 if it never was. When a day ends is
-- for whoever asks to know, once for each zone (booked_zones.sql), which local is: to make each instant a day of a zone that
-- varies from row to row takes longer than all else. Days are local where the booking is. Billed are those of its frozen
-- price; of one that has none, such as an imported one, so many from its pickup on as it says, else as its planned time
-- has, and one at least. What was agreed is agreed_minor,
-- without taxes and what is only known later; it is divided among the days in proportion to their prices, or evenly where
-- there are none, and what is left over by rounding goes to the later ones: bookings have it (agreed_by_day). time_minors
-- is the part for time and miles.
-- How many days it has, and what was agreed, is as the booking stands now: an extension is taken for known since the
-- confirmation, which the revision log would tell apart at the cost of reading every revision of every booking.
-- The class is the one that was booked, or that of its vehicle where none was.
-- EXPLAIN indexes=1: bookings by the account, the days by billed_until_minmax and pickup_at_minmax; vehicles by account.
WITH (
    SELECT (arrayPushBack(groupArray(vehicle), 0), arrayPushBack(groupArray(class), 0))
    FROM vehicle_traits
    WHERE account = {account:UInt64} AND class != 0
) AS classes
SELECT vehicle, if(booked = 0, transform(vehicle, classes.1, classes.2, toUInt64(0)), booked) AS class, location, channel, customer, currency, local,
    confirmed_ms, ended_ms, days,
    if(notEmpty(billed_minor) AND arrayMin(billed_minor) >= 0 AND arraySum(billed_minor) > 0, billed_minor, arrayMap(d -> toInt64(1), days)) AS weights,
    arrayPushFront(arrayCumSum(weights), 0) AS upto,
    agreed_by_day AS minors,
    arrayPopFront(arrayDifference(arrayMap(u -> intDiv(agreed_time_minor * u, upto[-1]), upto))) AS time_minors
FROM
(
    SELECT leg_vehicles[-1] AS vehicle, toUInt64OrZero(substring(vehicle_class_id, 5)) AS booked,
        toUInt64OrZero(substring(pickup_location_id, 5)) AS location, CAST(if(bookings.channel = '', 'direct', bookings.channel), 'String') AS channel,
        toUInt64OrZero(substring(customer_id, 5)) AS customer, currency, agreed_by_day, agreed_time_minor, billed_minor,
        if(timezone = '', if({zone:String} = '', 'UTC', {zone:String}), timezone) AS local,
        toUnixTimestamp64Milli(if(confirmed_at > toDateTime64(0, 3, 'UTC'), confirmed_at, created_at)) AS confirmed_ms,
        toUnixTimestamp64Milli(if(status NOT IN ('cancelled', 'no_show', 'expired'), toDateTime64('2299-12-31', 3, 'UTC'),
            if(cancelled_at > toDateTime64(0, 3, 'UTC'), cancelled_at, status_since))) AS ended_ms,
        -- of a booking that has a frozen price none of this is worked out
        if(notEmpty(billed_on), toDate32(0), toDate32(formatDateTime(pickup_at, '%F', local))) AS first,
        if(notEmpty(billed_on), 0, greatest(1, least(3660, if(billed_days > 0, toInt64(billed_days), dateDiff('day', pickup_at, return_at))))) AS many,
        if(notEmpty(billed_on), billed_on, arrayMap(i -> addDays(first, i), range(toUInt64(many)))) AS days
    FROM bookings FINAL
    WHERE account = {account:UInt64} AND archived_at IS NULL
        AND (confirmed_at > toDateTime64(0, 3, 'UTC') OR status IN ('confirmed', 'active', 'completed'))
        AND billed_until > addYears({from:Date32}, -1) AND pickup_at < toDateTime64({to:Date32} + 2, 3, 'UTC')
)
