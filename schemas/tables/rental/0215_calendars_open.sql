-- A hold is open while its holder has driven off: then it does not end before it is given up, however long after its end. Rows that were
-- written before have none.
ALTER TABLE calendars ADD COLUMN IF NOT EXISTS hold_open Array(Bool)
