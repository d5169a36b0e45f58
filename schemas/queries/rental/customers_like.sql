-- Customers of an account that could be the same person as one of several, with what they may be known by, as in customers_compared.sql:
-- with one of some numbers of licences, email addresses or phone numbers, of which hashes are compared as the table makes its keys; born on
-- one of some days; on the do-not-rent list with one of some ends of phone numbers, or of unknown birth date, or all on that list, if these are
-- wanted. Who is like whom is for the caller (query.People): what each of several people has in common with each of these took longer to
-- plan here than to find. Merged and archived ones are among them.
-- Who may be meant is found among all versions first, which reads few columns; FINAL then merges those few.
-- EXPLAIN indexes=1: by the account, then granules without any of the keys are left out, unless birth dates or ends of numbers are wanted.
SELECT id, display_name, merged_into, date_of_birth, licence_country, JSONExtractString(body, 'licence', 'region'),
    JSONExtract(body, 'distinct_from', 'Array(String)'), do_not_rent = 'true' OR risk_level = 'blocked',
    JSONExtractString(body, 'licence', 'number'), email, phone, archived_at IS NOT NULL
FROM customers FINAL
WHERE account = {account:UInt64} AND erasing = 'false'
    AND id IN (
        SELECT id FROM customers
        WHERE account = {account:UInt64}
            AND (licence_number_key IN (SELECT cityHash64(upperUTF8(replaceRegexpAll(arrayJoin({licence_numbers:Array(String)}), '[^\\pL\\pN]', ''))))
                OR email_key IN (SELECT cityHash64(lowerUTF8(trimBoth(arrayJoin({emails:Array(String)})))))
                OR phone_key IN (SELECT cityHash64(arrayJoin({phones:Array(String)})))
                OR notEmpty({borns:Array(String)}) AND date_of_birth IN {borns:Array(String)}
                OR (do_not_rent = 'true' OR risk_level = 'blocked') AND ({listed:Bool} OR {undated:Bool} AND date_of_birth = ''
                    OR notEmpty({phone_ends:Array(String)})
                        AND arrayExists(ending -> endsWith(replaceRegexpAll(phone, '[^0-9]', ''), ending), {phone_ends:Array(String)})))
    )
