-- The currency of the booking, the account's where the booking says none. Days that were made before it was kept say nothing until they
-- are made again. So are vehicle_days since then: rented_s, billed_days and rented_m stand in the row of the currency of the booking,
-- beside what it earned; all else that is no money stands in the row of the account's own currency, so that all of it is summed over
-- all currencies, and what stands under money over that of the money. Of seconds of which two bookings say so, the one
-- counts whose spell of the day began first.
ALTER TABLE rental_days ADD COLUMN IF NOT EXISTS currency LowCardinality(String) AFTER status
