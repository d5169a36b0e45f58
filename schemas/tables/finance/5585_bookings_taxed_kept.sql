-- What bookings of before are taxed on is written once, as in 5505: reports of taxes need not unpack their charges.
ALTER TABLE bookings MATERIALIZE COLUMN taxed
