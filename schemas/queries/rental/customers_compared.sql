-- All customers of an account with what they may be known by, for whoever compares many people with them.
SELECT id, display_name, merged_into, date_of_birth, licence_country, JSONExtractString(body, 'licence', 'region'),
    JSONExtract(body, 'distinct_from', 'Array(String)'), do_not_rent = 'true' OR risk_level = 'blocked',
    JSONExtractString(body, 'licence', 'number'), email, phone, archived_at IS NOT NULL
FROM customers FINAL
WHERE account = {account:UInt64} AND erasing = 'false'
