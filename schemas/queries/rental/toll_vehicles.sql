-- The vehicles of an account that bore a number plate at an instant: by the revision that stood then, or the first if it was made later. A
-- region that is not known on either side does not tell them apart. Both are compared by letters and digits alone, as they are claimed.
SELECT id
FROM
(
    SELECT id, countIf(at <= fromUnixTimestamp64Milli({at:Int64}, 'UTC')) AS known,
        if(known > 0, argMaxIf((plate, region), revision, at <= fromUnixTimestamp64Milli({at:Int64}, 'UTC')), argMin((plate, region), revision)) AS bore
    FROM
    (
        SELECT id, revision, at,
            upperUTF8(replaceRegexpAll(JSONExtractString(body, 'license_plate'), '[^\\pL\\pN]', '')) AS plate,
            upperUTF8(replaceRegexpAll(JSONExtractString(body, 'plate_region'), '[^\\pL\\pN]', '')) AS region
        FROM record_log
        WHERE account = {account:UInt64} AND kind = 'vehicle'
    )
    GROUP BY id
)
WHERE bore.1 = upperUTF8(replaceRegexpAll({plate:String}, '[^\\pL\\pN]', '')) AND bore.1 != ''
    AND (bore.2 = '' OR {region:String} = '' OR bore.2 = upperUTF8(replaceRegexpAll({region:String}, '[^\\pL\\pN]', '')))
ORDER BY id
