-- And written once of bookings of before, as in 5505.
ALTER TABLE bookings MATERIALIZE COLUMN returned_on, MATERIALIZE COLUMN agreed_by_day
