-- And written once, as in 5585.
ALTER TABLE bookings MATERIALIZE COLUMN taxed
