-- Whether a table has rows that are to go. The marks are filled by schemas.Retain.
SELECT count()
FROM
(
    SELECT 1
    FROM /*table*/
    WHERE account IN {accounts:Array(UInt64)} AND /*time*/ < fromUnixTimestamp64Milli({before:Int64}, 'UTC') /*but*/
    LIMIT 1
)
