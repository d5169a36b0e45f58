-- What trackers of some vehicles said of who is logged in at any time of [{from}, {to}]. Of a row of reports of one tag the
-- first and the last stay, the first of each five minutes, and what lies at a gap of a minute or more.
SELECT vehicle, toUnixTimestamp64Milli(time), tag
FROM
(
    SELECT vehicle, time, tag, lagInFrame(tag) OVER row AS tag_before, leadInFrame(tag) OVER row AS tag_after,
        lagInFrame(time) OVER row AS before, leadInFrame(time) OVER row AS after
    FROM tag_reports
    WHERE account = {account:UInt64} AND vehicle IN {vehicles:Array(UInt64)}
        AND time >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND time <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    WINDOW row AS (PARTITION BY vehicle ORDER BY time, tag ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)
)
WHERE tag != tag_before OR tag != tag_after OR toStartOfFiveMinutes(time) != toStartOfFiveMinutes(before)
    OR dateDiff('second', before, time) >= 60 OR dateDiff('second', time, after) >= 60
ORDER BY vehicle, time, tag
