-- What an account's customers on the do-not-rent list are known by, one row for each set of what is known. Of those that were merged
-- into others the others count. Who may be on it is found among all versions first; FINAL merges those few.
WITH
    licence_number_key != 0 AS licence,
    date_of_birth != '' AND display_name != '' AS birth,
    parseDateTime64BestEffortOrNull(JSONExtractString(body, 'do_not_rent', 'expires_at'), 3, 'UTC') AS ends_at
SELECT licence, birth, email_key != 0 AS email, phone_key != 0 AS phone
FROM customers FINAL
WHERE account = {account:UInt64} AND merged_into = '' AND erasing = 'false'
    AND id IN (SELECT id FROM customers WHERE account = {account:UInt64} AND (risk_level = 'blocked' OR do_not_rent = 'true'))
    AND (risk_level = 'blocked' OR do_not_rent = 'true' AND ifNull(ends_at > fromUnixTimestamp64Milli({now:Int64}, 'UTC'), true))
GROUP BY ALL
ORDER BY ALL
