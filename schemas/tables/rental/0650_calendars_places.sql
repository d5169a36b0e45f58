-- The locations where a hold begins and where it leaves its vehicle, by id; empty for wherever the vehicle is. Rows that were written
-- before have none.
ALTER TABLE calendars
    ADD COLUMN IF NOT EXISTS hold_begins Array(String),
    ADD COLUMN IF NOT EXISTS hold_ends Array(String)
