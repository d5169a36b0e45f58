-- The days of vehicles that something is about which was written at an instant or later: by the clock of records, or
-- entries, trips, stops, driving events, charges and days of rentals by their own. every: it is all vehicles of the account. Days reach far
-- enough for any zone; 1970 and 2299 are the first day and the last. A vehicle has all days made again if what its days
-- hang on changed, and if it is new; else those since its newest states. Of a block all that its revisions said.
-- EXPLAIN indexes=1: record_log by at_minmax, the others by the indexes on their times; of a block and a vehicle by key.
WITH fromUnixTimestamp64Milli({since:Int64}, 'UTC') AS since, fromUnixTimestamp64Milli({entered:Int64}, 'UTC') AS entered
SELECT account, every, vehicle, greatest(min(first), toDate32('1970-01-01')) AS from, max(last) AS to
FROM
(
    SELECT account, false AS every, vehicle, local_date AS first, local_date AS last
    FROM ledger_entries WHERE entered_at >= entered
    UNION ALL
    SELECT account, false, vehicle, local_date - 1, local_date + 1 FROM rental_days WHERE computed_at >= entered
    UNION ALL
    SELECT account, false, vehicle, toDate32(start_at) - 1, toDate32(end_at) + 2 FROM trips WHERE updated_at >= entered
    UNION ALL
    SELECT account, false, vehicle, toDate32(start_at) - 1, toDate32(start_at) + 1
    FROM charges WHERE updated_at >= entered
    UNION ALL
    SELECT account, false, vehicle, toDate32(start_at) - 1, toDate32(start_at) + 1
    FROM stops WHERE updated_at >= entered
    UNION ALL
    SELECT account, false, vehicle, toDate32(start_at) - 1, toDate32(start_at) + 1
    FROM driving_events WHERE updated_at >= entered
    UNION ALL
    SELECT account, false, toUInt64OrZero(splitByChar('_', JSONExtractString(body, 'vehicle_id'))[2]),
        toDate32(parseDateTime64BestEffortOrZero(JSONExtractString(body, 'from'), 3, 'UTC')) - 1,
        toDate32(parseDateTime64BestEffortOrZero(JSONExtractString(body, 'until'), 3, 'UTC')) + 1
    FROM record_log
    WHERE kind = 'block'
        AND (account, id) IN (SELECT account, id FROM record_log WHERE kind = 'block' AND at >= since)
    UNION ALL
    SELECT account, false, id,
        if(uniqExact(JSONExtractString(body, 'timezone'), JSONExtractString(body, 'in_service_on'),
                JSONExtractString(body, 'acquired_on'), JSONExtractString(body, 'out_of_service_on'),
                JSONExtractString(body, 'disposal_on'), JSONExtractString(body, 'fuel_type'), isNull(archived_at)) > 1 OR any(newer) = 1,
            toDate32('1970-01-01'),
            toDate32(minIf(parseDateTime64BestEffortOrZero(JSONExtractString(body, 'status_since'), 3, 'UTC'),
                at >= since)) - 1),
        toDate32('2299-12-31')
    FROM record_log INNER JOIN
    (
        SELECT account, id, min(revision) AS newer FROM record_log WHERE kind = 'vehicle' AND at >= since GROUP BY account, id
    ) AS changed USING (account, id)
    WHERE kind = 'vehicle' AND revision + 1 >= newer
        AND (account, id) IN (SELECT account, id FROM record_log WHERE kind = 'vehicle' AND at >= since)
    GROUP BY account, id
    UNION ALL
    SELECT account, true, 0, toDate32('1970-01-01'), toDate32('2299-12-31')
    FROM record_log INNER JOIN
    (
        SELECT account, id, min(revision) AS newer FROM record_log WHERE kind = 'account' AND at >= since GROUP BY account, id
    ) AS changed USING (account, id)
    WHERE kind = 'account' AND revision + 1 >= newer
    GROUP BY account
    HAVING uniqExact(JSONExtractString(body, 'timezone'), JSONExtractString(body, 'currency')) > 1
)
GROUP BY account, every, vehicle, toStartOfMonth(first)
ORDER BY account, every, vehicle, from
