-- Customers of an account that could be the same person as one of several, with what they may be known by, as in customers_compared.sql:
-- with one of some numbers of licences, email addresses or phone numbers, without what is only a way to write them, as customers_feed and
-- 0610 make their keys; born on one of some days; on the do-not-rent list, all or those whose birth date is not known, if these are
-- wanted. The caller compares the rest, as that is quicker than to plan it. Merged and archived ones are among them.
-- Who may be meant is found among all versions first, which reads few columns; FINAL then merges those few.
-- EXPLAIN indexes=1: by the account, then granules without any of the keys are left out, unless birth dates are wanted.
SELECT id, display_name, merged_into, date_of_birth, licence_country, JSONExtractString(body, 'licence', 'region'),
    JSONExtract(body, 'distinct_from', 'Array(String)'), do_not_rent = 'true' OR risk_level = 'blocked',
    JSONExtractString(body, 'licence', 'number'), email, phone, archived_at IS NOT NULL
FROM customers FINAL
WHERE account = {account:UInt64} AND erasing = 'false'
    AND id IN (
        SELECT id FROM customers
        WHERE account = {account:UInt64}
            AND (licence_number_key IN (SELECT cityHash64(arrayJoin({licences:Array(String)})))
                OR email_key IN (SELECT cityHash64(arrayJoin({emails:Array(String)})))
                OR phone_key IN (SELECT cityHash64(arrayJoin({phones:Array(String)})))
                OR notEmpty({borns:Array(String)}) AND date_of_birth IN {borns:Array(String)}
                OR (do_not_rent = 'true' OR risk_level = 'blocked') AND ({listed:Bool} OR {undated:Bool} AND date_of_birth = ''))
    )
