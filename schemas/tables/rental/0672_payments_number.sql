-- What people call it by, like P-1042; given once in the account.
ALTER TABLE payments
    ADD COLUMN IF NOT EXISTS number String DEFAULT JSONExtractString(body, 'number') AFTER archived_at
