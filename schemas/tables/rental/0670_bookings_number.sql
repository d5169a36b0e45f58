-- What people call it by, like B-1042; given once in the account.
ALTER TABLE bookings
    ADD COLUMN IF NOT EXISTS number String DEFAULT JSONExtractString(body, 'number') AFTER archived_at
