-- record_log to customers: the columns that lists filter and sort by, taken from the record. The keys by which duplicates are found are
-- hashes of what is normalised as customers_like.sql does it.
INSERT INTO customers
    (account, id, revision, created_at, updated_at, archived_at, type, display_name, first_name, last_name, company_name, email,
     phone, date_of_birth, city, region, country, lifecycle, risk_level, assigned_to, tags, do_not_rent, licence_country,
     licence_expires_on, licence_verification, merged_into, possible_duplicate_of, possible_duplicates, erasing,
     email_key, phone_key, external_ids, body)
SELECT
    account, id, revision, created_at, at AS updated_at, archived_at,
    JSONExtractString(body, 'type') AS type,
    JSONExtractString(body, 'display_name') AS display_name,
    JSONExtractString(body, 'first_name') AS first_name,
    JSONExtractString(body, 'last_name') AS last_name,
    JSONExtractString(body, 'company_name') AS company_name,
    JSONExtractString(body, 'email') AS email,
    JSONExtractString(body, 'phone') AS phone,
    JSONExtractString(body, 'date_of_birth') AS date_of_birth,
    JSONExtractString(body, 'address', 'city') AS city,
    JSONExtractString(body, 'address', 'region') AS region,
    JSONExtractString(body, 'address', 'country') AS country,
    JSONExtractString(body, 'lifecycle') AS lifecycle,
    JSONExtractString(body, 'risk_level') AS risk_level,
    JSONExtractString(body, 'assigned_to') AS assigned_to,
    JSONExtract(body, 'tags', 'Array(String)') AS tags,
    if(JSONExtractBool(body, 'do_not_rent', 'active'), 'true', 'false') AS do_not_rent,
    JSONExtractString(body, 'licence', 'country') AS licence_country,
    JSONExtractString(body, 'licence', 'expires_on') AS licence_expires_on,
    JSONExtractString(body, 'licence_verification', 'status') AS licence_verification,
    JSONExtractString(body, 'merged_into') AS merged_into,
    JSONExtractString(body, 'possible_duplicate_of') AS possible_duplicate_of,
    if(possible_duplicate_of != '', 'true', 'false') AS possible_duplicates,
    if(JSONExtractString(body, 'erasing_since') != '', 'true', 'false') AS erasing,
    if(email = '', 0, cityHash64(lowerUTF8(trimBoth(email)))) AS email_key,
    if(phone = '', 0, cityHash64(replaceRegexpAll(phone, '[^0-9]', ''))) AS phone_key,
    arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')) AS external_ids,
    body
FROM record_log
WHERE kind = 'customer'
