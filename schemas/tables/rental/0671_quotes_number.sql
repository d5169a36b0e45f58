-- What people call it by, like Q-1042; given once in the account.
ALTER TABLE quotes
    ADD COLUMN IF NOT EXISTS number String DEFAULT JSONExtractString(body, 'number') AFTER archived_at
