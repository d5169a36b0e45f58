-- Which values have a claim of another write of a revision or a later one: accounts, fields, values, revisions and writes are the same
-- place in each array.
-- EXPLAIN indexes=1: the key leaves the granules in which the values lie. Of two million claims a thousand that follow each
-- other, as those of a file do, leave 1 of 245 (27 ms), and a thousand anywhere all of them (0.15 s).
SELECT DISTINCT c.account, CAST(c.field, 'String'), c.value
FROM
(
    SELECT account, field, value, revision, write_id FROM claim_log
    WHERE (account, field, value) IN arrayZip({accounts:Array(UInt64)}, {fields:Array(String)}, {values:Array(String)})
        AND write_id NOT IN {writes:Array(UInt64)}
) AS c
INNER JOIN
(
    SELECT of.1 AS account, of.2 AS field, of.3 AS value, of.4 AS since
    FROM (SELECT arrayJoin(arrayZip({accounts:Array(UInt64)}, {fields:Array(String)}, {values:Array(String)}, {revisions:Array(UInt64)})) AS of)
) AS seen ON c.account = seen.account AND c.field = seen.field AND c.value = seen.value
WHERE c.revision >= seen.since
SETTINGS max_threads = 1 -- it mostly reads a granule or two: more threads cost more than they bring
