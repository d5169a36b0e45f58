-- What of given vehicles stands in derivations and is not in the table of its kind: the server died between the two.
-- External: wanted (account UInt64, vehicle UInt64, after_ms Int64)
SELECT account, vehicle, CAST(kind, 'String'), id
FROM derivations FINAL
WHERE (account, vehicle) IN (SELECT account, vehicle FROM wanted)
    AND (account, vehicle, CAST(kind, 'String'), id, revision) NOT IN
    (
        SELECT account, vehicle, 'trip', id, revision FROM trips WHERE (account, vehicle) IN (SELECT account, vehicle FROM wanted)
        UNION ALL
        SELECT account, vehicle, 'stop', id, revision FROM stops WHERE (account, vehicle) IN (SELECT account, vehicle FROM wanted)
        UNION ALL
        SELECT account, vehicle, 'charge', id, revision FROM charges WHERE (account, vehicle) IN (SELECT account, vehicle FROM wanted)
        UNION ALL
        SELECT account, vehicle, 'visit', id, revision FROM visits WHERE (account, vehicle) IN (SELECT account, vehicle FROM wanted)
        UNION ALL
        SELECT account, vehicle, 'driving_event', id, revision FROM driving_events WHERE (account, vehicle) IN (SELECT account, vehicle FROM wanted)
        UNION ALL
        SELECT account, vehicle, 'alert', id, revision FROM alerts WHERE (account, vehicle) IN (SELECT account, vehicle FROM wanted)
        UNION ALL
        SELECT account, vehicle, 'route_run', id, revision FROM route_runs WHERE (account, vehicle) IN (SELECT account, vehicle FROM wanted)
    )
