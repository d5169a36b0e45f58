-- What the calendars of an account hold, of vehicles and of classes alike, of ids alone if narrowed: all that ends after an instant, and what is
-- open. Whether a hold has lapsed is for whoever looks at it later. A calendar without any has no row.
-- EXPLAIN indexes=1: the key leaves the granules of the account (2 of 25 with 10,000 of 200,000 calendars), and of ids with (account, kind, id).
SELECT id, arrayMap(h -> h.1, held) AS refs, arrayMap(h -> h.2, held) AS from_, arrayMap(h -> h.3, held) AS until_, arrayMap(h -> h.4, held) AS expires_,
    arrayMap(h -> h.5, held) AS begins, arrayMap(h -> h.6, held) AS ends, arrayMap(h -> h.7, held) AS open_, of_class
FROM
(
    SELECT id, kind = 'class_calendar' AS of_class, arrayFilter(h -> h.7 OR h.3 > fromUnixTimestamp64Milli({since:Int64}, 'UTC'),
        arrayZip(hold_refs, hold_from, hold_until, hold_expires, arrayResize(hold_begins, length(hold_refs)),
            arrayResize(hold_ends, length(hold_refs)), arrayResize(hold_open, length(hold_refs)))) AS held
    FROM calendars FINAL
    WHERE account = {account:UInt64} AND kind IN ('calendar', 'class_calendar') AND ({narrowed:UInt8} = 0 OR id IN {ids:Array(UInt64)})
)
WHERE notEmpty(held)
