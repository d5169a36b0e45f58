-- Customers of an account that could be the same person as one described: with the same licence, region and birth date, the same email
-- address, the same phone number, or, with a birth date, all who were born that day (whose names the caller compares). What is not
-- given is empty and finds nothing. The keys are made as customers_feed makes them. Merged ones are among them if archived ones are asked for.
-- EXPLAIN indexes=1: by the account, then granules without any of the keys are left out.
WITH
    {licence_number:String} != '' AND licence_key = cityHash64(
        upperUTF8(replaceRegexpAll({licence_number:String}, '[^\\pL\\pN]', '')),
        upperUTF8({licence_country:String}),
        upperUTF8(replaceRegexpAll({licence_region:String}, '[^\\pL\\pN]', '')),
        {date_of_birth:String}) AS by_licence,
    {email:String} != '' AND email_key = cityHash64(lowerUTF8(trimBoth({email:String}))) AS by_email,
    {phone:String} != '' AND phone_key = cityHash64(replaceRegexpAll({phone:String}, '[^0-9]', '')) AS by_phone,
    {born:String} != '' AND date_of_birth = {born:String} AS by_birth
SELECT id, display_name, merged_into, by_licence, by_email, by_phone, by_birth
FROM customers FINAL
WHERE account = {account:UInt64} AND id != {self:UInt64}
    AND ({archived:UInt8} = 1 OR archived_at IS NULL)
    AND erasing = 'false'
    AND (by_licence OR by_email OR by_phone OR by_birth)
ORDER BY id
LIMIT 200
