-- The overlap audit: bookings that seem to overlap, or are flagged to. Bookings that hold a vehicle are held against each
-- other and against the blocks and work orders in its calendar. A rental that is overdue goes on until now, and so runs into the next one. What has
-- lapsed holds nothing, and what ended more than a month ago is history. A block or work order may begin in the buffer after a rental: it is held
-- against what comes after that buffer, for what lies in the buffer meets the rental anyway. For each vehicle the periods stand in order, and one overlaps an
-- earlier one if it begins before the latest end so far, and a later one if it ends after the next begins.
WITH fromUnixTimestamp64Milli({now:Int64}, 'UTC') AS at
SELECT account, id, vehicle, overlaps
FROM
(
    SELECT account, vehicle, booking AS id, flagged,
        from_ < max(until_) OVER (PARTITION BY account, vehicle ORDER BY from_, until_, holder ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
        OR until_ > min(from_) OVER (PARTITION BY account, vehicle ORDER BY from_, until_, holder ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)
            AND count() OVER (PARTITION BY account, vehicle ORDER BY from_, until_, holder ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) > 0 AS overlaps
    FROM
    (
        SELECT account, toUInt64OrZero(substring(vehicle_id, 5)) AS vehicle, id AS booking, concat('bkg_', toString(id)) AS holder, blocked_from AS from_,
            if(status = 'active', greatest(blocked_until, at), blocked_until) AS until_, conflict = 'true' AS flagged
        FROM bookings FINAL
        WHERE vehicle_id != '' AND archived_at IS NULL AND (status IN ('confirmed', 'completed') AND blocked_until > at - toIntervalDay(30)
            OR status = 'active' OR status = 'pending' AND hold_expires_at > at)
        UNION ALL
        SELECT account, vehicle, 0 AS booking, holder,
            arrayMax(arrayMap(b -> if(b.1 <= began AND began < b.2, b.2, began), arrayPushBack(buffers, (began, began)))) AS from_, until_, false AS flagged
        FROM
        (
            SELECT account, id AS vehicle, hold.1 AS holder, hold.2 AS began, hold.3 AS until_
            FROM calendars FINAL
            ARRAY JOIN arrayZip(hold_refs, hold_from, hold_until, hold_expires) AS hold
            WHERE kind = 'calendar' AND NOT startsWith(hold.1, 'bkg_') AND hold.3 > at - toIntervalDay(30)
                AND (toUnixTimestamp64Milli(hold.4) = 0 OR hold.4 > at)
        ) AS h
        LEFT JOIN
        (
            SELECT account, toUInt64OrZero(substring(vehicle_id, 5)) AS vehicle, groupArray((back, blocked_until)) AS buffers
            FROM
            (
                SELECT account, vehicle_id, blocked_until, multiIf(status = 'completed' AND toUnixTimestamp64Milli(actual_return_at) != 0, least(actual_return_at, return_at),
                    status = 'active', greatest(return_at, at), return_at) AS back
                FROM bookings FINAL
                WHERE vehicle_id != '' AND archived_at IS NULL AND blocked_until > at - toIntervalDay(30)
                    AND (status IN ('confirmed', 'active', 'completed') OR status = 'pending' AND hold_expires_at > at)
            )
            WHERE back < blocked_until
            GROUP BY account, vehicle
        ) AS b ON b.account = h.account AND b.vehicle = h.vehicle
        WHERE from_ < until_
    )
)
WHERE id != 0 AND (overlaps OR flagged) AND (account, id) > ({after_account:UInt64}, {after_id:UInt64})
UNION ALL
SELECT account, id, toUInt64OrZero(substring(vehicle_id, 5)) AS vehicle, false AS overlaps
FROM bookings FINAL
WHERE conflict = 'true' AND status IN ('cancelled', 'no_show', 'expired') AND archived_at IS NULL
    AND (account, id) > ({after_account:UInt64}, {after_id:UInt64})
ORDER BY account, id
LIMIT {limit:UInt32}
