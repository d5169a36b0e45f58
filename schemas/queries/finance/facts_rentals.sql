-- Makes the days of some bookings of an account, by the channel that the ledger has them by, of those in chosen, all of which are among first and last, and
-- writes what differs from what stands. now is in seconds since 1970, currency the account's. A rental lasts from its actual pickup (the planned
-- one if nobody noted it) to its return; while it is out to the present, or to the planned return if it was over when it
-- was written down (record.Booking.Bygone). Whoever had it until a swap had it until then. Billed are the days of the
-- frozen price, else the local days from pickup to planned return, as the ledger has it (billed in api/rental/ledger).
-- bounds are the local days of each zone, '' being the account's, for all that the bookings lie in; a billed day beyond
-- them begins at midnight in UTC. EXPLAIN indexes=1: bookings by its key, rental_days by booking_minmax and booking_bloom.
-- External: chosen (booking UInt64)
-- External: bounds (zone String, day Int32, begins Int64, ends Int64)
INSERT INTO rental_days (account, local_date, booking, computed_at, vehicle, class, customer, location, channel, status,
    currency, rented_s, billed_days, spells)
WITH
    booked AS
    (
        SELECT id AS booking, timezone AS zone,
            (toUInt64OrZero(splitByChar('_', vehicle_class_id)[2]), toUInt64OrZero(splitByChar('_', customer_id)[2]),
                toUInt64OrZero(splitByChar('_', pickup_location_id)[2]), toString(if(channel = '', 'direct', channel)), toString(status),
                if(currency = '', {currency:String}, toString(currency))) AS traits,
            JSONExtract(body, 'Tuple(backdated Bool,
                vehicle_history Array(Tuple(vehicle_id String, until String)),
                rate_snapshot Tuple(days Array(Tuple(date String))))') AS said,
            arrayMap(s -> toUInt64OrZero(splitByChar('_', s.1)[2]), said.2) AS had,
            arrayMap(s -> intDiv(toUnixTimestamp64Milli(parseDateTime64BestEffortOrZero(s.2, 3, 'UTC')), 1000), said.2)
                AS untils,
            arrayPushBack(had, toUInt64OrZero(splitByChar('_', vehicle_id)[2])) AS vehicles,
            intDiv(toUnixTimestamp64Milli(if(toUnixTimestamp64Milli(actual_pickup_at) = 0, pickup_at, actual_pickup_at)),
                1000) AS picked_up,
            toInt64({now:Int64}) AS now_s,
            least(now_s, multiIf(
                status = 'completed' AND toUnixTimestamp64Milli(actual_return_at) != 0,
                intDiv(toUnixTimestamp64Milli(actual_return_at), 1000),
                status = 'completed' OR said.1 AND return_at < status_since,
                intDiv(toUnixTimestamp64Milli(return_at), 1000),
                now_s)) AS returned,
            greatest(picked_up + 1, intDiv(toUnixTimestamp64Milli(return_at) + 999, 1000)) AS planned,
            arrayMap(d -> toInt32(assumeNotNull(d)),
                arrayFilter(d -> isNotNull(d), arrayMap(d -> toDate32OrNull(d.1), said.3.1))) AS priced,
            -- what each day is looked at for: (sort, day, vehicle, from, until)
            arrayFlatten(arrayMap((v, s, e) -> if(e > s,
                    arrayMap(d -> ('used', toInt32(d), v, s, e), range(intDiv(s, 86400) - 1, intDiv(e, 86400) + 2)), []),
                vehicles,
                arrayMap(s -> greatest(s, picked_up), arrayPushFront(untils, picked_up)),
                arrayMap(e -> least(e, returned), arrayPushBack(untils, returned)))) AS used,
            if(notEmpty(priced),
                arrayMap(d -> ('priced', d, toUInt64(0), picked_up, picked_up), priced),
                arrayMap(d -> ('planned', toInt32(d), toUInt64(0), picked_up, planned),
                    range(intDiv(picked_up, 86400) - 1, intDiv(planned, 86400) + 2))) AS billed
        FROM bookings FINAL
        WHERE account = {account:UInt64} AND status IN ('active', 'completed')
            AND id BETWEEN {first:UInt64} AND {last:UInt64}
            AND id IN (SELECT booking FROM chosen)
    ),
    looked AS
    (
        SELECT booking, traits, zone, had, untils, vehicles, item.1 AS sort, item.2 AS day, item.3 AS driven, item.4 AS s,
            item.5 AS e
        FROM booked ARRAY JOIN arrayConcat(used, billed) AS item
    ),
    found AS
    (
        SELECT booking, traits, toDate32(looked.day) AS local_date, sort,
            if(bounds.ends = 0, toInt64(looked.day) * 86400, bounds.begins) AS begun,
            greatest(s, begun) AS since, least(e, bounds.ends) AS until,
            if(sort = 'used', driven,
                vehicles[ifNull(nullIf(arrayFirstIndex(u -> greatest(s, begun) < u, untils), 0), -1)]) AS vehicle
        FROM looked LEFT JOIN bounds ON looked.zone = bounds.zone AND looked.day = bounds.day
        WHERE sort = 'priced' OR until > since
    )
SELECT {account:UInt64}, local_date, booking, fromUnixTimestamp64Milli(version, 'UTC'), vehicle, kept.1, kept.2, kept.3,
    kept.4, kept.5, kept.6, seconds, days, times
FROM
(
    SELECT local_date, booking, vehicle,
        greatest(toUnixTimestamp64Milli(now64(3)), max(made_at) + 1) AS version,
        tuple(argMax(traits.1, fresh), argMax(traits.2, fresh), argMax(traits.3, fresh), argMax(traits.4, fresh),
            argMax(traits.5, fresh), argMax(traits.6, fresh)) AS kept, toUInt32(sum(rented)) AS seconds, toUInt32(sum(billed)) AS days,
        arraySort(groupArrayArray(spans)) AS times,
        min(fresh) AS new, max(stood) AS was
    FROM
    (
        SELECT true AS fresh, local_date, booking, vehicle, traits, toInt64(0) AS made_at,
            if(sort = 'used', until - since, 0) AS rented, toUInt64(sort != 'used') AS billed,
            if(sort = 'used', [(since, until)], []) AS spans, toUInt64(0) AS stood
        FROM found
        UNION ALL
        SELECT false, local_date, booking, vehicle,
            (class, customer, location, toString(channel), toString(status), toString(currency)),
            toUnixTimestamp64Milli(computed_at), toInt64(0), toUInt64(0), CAST([], 'Array(Tuple(Int64, Int64))'),
            cityHash64((class, customer, location, toString(channel), toString(status), toString(currency)), rented_s, billed_days,
                CAST(spells, 'Array(Tuple(Int64, Int64))'))
        FROM rental_days FINAL
        WHERE account = {account:UInt64} AND booking BETWEEN {first:UInt64} AND {last:UInt64}
            AND booking IN (SELECT booking FROM chosen)
    )
    GROUP BY local_date, booking, vehicle
)
WHERE new OR was != cityHash64(kept, seconds, days, times)
