-- What people call it by, like C-1042; given once in the account.
ALTER TABLE customers
    ADD COLUMN IF NOT EXISTS number String DEFAULT JSONExtractString(body, 'number') AFTER archived_at
