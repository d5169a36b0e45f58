-- What facts_tax_bases.sql works out of the charges by now, as in 6306.
ALTER TABLE bookings DROP COLUMN IF EXISTS taxed
