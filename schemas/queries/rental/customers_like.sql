-- Customers of an account that could be the same person as one described: with the same number of a licence, email address or phone number;
-- with a birth date, all who were born that day; with a name, all on the do-not-rent list whose birth date or that of the one described
-- is not known; with digits that may be the end of a phone number, all on that list whose number ends so. The caller compares the rest. What is not given is empty and finds nothing. Numbers and addresses are compared as
-- customers_feed and 0610 make their keys; phones are all the ways in which the number may be kept. Merged ones are among them if archived
-- ones are asked for. What can be known by most comes first, those on the list before others.
-- Who may be meant is found among all versions first, which reads few columns; FINAL then merges those few, of which the same is asked again.
-- EXPLAIN indexes=1: by the account, then granules without any of the keys are left out.
WITH
    upperUTF8(replaceRegexpAll({licence_number:String}, '[^\\pL\\pN]', '')) AS licence,
    licence != '' AND licence_number_key = cityHash64(licence) AS by_licence,
    {email:String} != '' AND email_key = cityHash64(lowerUTF8(trimBoth({email:String}))) AS by_email,
    phone_key IN arrayMap(digits -> cityHash64(digits), {phones:Array(String)}) AS by_phone,
    {phone_end:String} != '' AND on_list AND endsWith(replaceRegexpAll(phone, '[^0-9]', ''), {phone_end:String}) AS by_phone_end,
    {born:String} != '' AND date_of_birth = {born:String} AS by_birth,
    do_not_rent = 'true' OR risk_level = 'blocked' AS on_list,
    {named:UInt8} = 1 AND on_list AND ({born:String} = '' OR date_of_birth = '') AS by_name
SELECT id, display_name, merged_into, date_of_birth, licence_country, JSONExtractString(body, 'licence', 'region') AS licence_region,
    JSONExtract(body, 'distinct_from', 'Array(String)') AS distinct_from, on_list, by_licence, by_email, by_phone, by_phone_end, by_birth, by_name
FROM customers FINAL
WHERE account = {account:UInt64} AND id != {self:UInt64}
    AND id IN (SELECT id FROM customers WHERE account = {account:UInt64} AND (by_licence OR by_email OR by_phone OR by_phone_end OR by_birth OR by_name))
    AND ({archived:UInt8} = 1 OR archived_at IS NULL)
    AND erasing = 'false'
    AND (by_licence OR by_email OR by_phone OR by_phone_end OR by_birth OR by_name)
ORDER BY by_licence OR by_email OR by_phone DESC, on_list DESC, id
LIMIT 1000
