-- What people call it by, like C-1042; given once in the account. Serves: a search by the exact number.
ALTER TABLE customers
    ADD COLUMN IF NOT EXISTS number String DEFAULT JSONExtractString(body, 'number') AFTER archived_at,
    ADD INDEX IF NOT EXISTS number_bloom number TYPE bloom_filter GRANULARITY 1
