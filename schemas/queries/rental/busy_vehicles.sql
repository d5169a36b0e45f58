-- The holds that overlap a period, in the calendars of one kind (calendar: of vehicles, class_calendar: of classes) of an account: in those of
-- ids (if narrowed) and, of vehicles, those of a class ('' for any). A hold that has lapsed does not count; one that is open and past its end
-- lasts until now. Calendars without any have no row.
SELECT id, arrayMap(h -> h.1, overlapping) AS refs, arrayMap(h -> h.2, overlapping) AS from_, arrayMap(h -> h.3, overlapping) AS until_, arrayMap(h -> h.4, overlapping) AS expires_,
    arrayMap(h -> h.5, overlapping) AS begins, arrayMap(h -> h.6, overlapping) AS ends, arrayMap(h -> h.7, overlapping) AS open_
FROM
(
    WITH fromUnixTimestamp64Milli({now:Int64}, 'UTC') AS now_, fromUnixTimestamp64Milli({now:Int64} + 1, 'UTC') AS after_now
    SELECT id, arrayFilter(h -> h.2 < fromUnixTimestamp64Milli({until:Int64}, 'UTC') AND h.3 > fromUnixTimestamp64Milli({from:Int64}, 'UTC')
            AND (toUnixTimestamp64Milli(h.4) = 0 OR h.4 > now_),
        arrayZip(hold_refs, hold_from, arrayMap((u, open) -> if(open AND u <= now_, after_now, u), hold_until, arrayResize(hold_open, length(hold_refs))), hold_expires,
            arrayResize(hold_begins, length(hold_refs)), arrayResize(hold_ends, length(hold_refs)), arrayResize(hold_open, length(hold_refs)))) AS overlapping
    FROM calendars FINAL
    WHERE account = {account:UInt64} AND kind = {kind:String}
        AND ({narrowed:UInt8} = 0 OR id IN {ids:Array(UInt64)})
        AND ({class:String} = '' OR id IN (
            SELECT id FROM vehicles FINAL WHERE account = {account:UInt64} AND vehicle_class_id = {class:String}))
)
WHERE notEmpty(overlapping)
