-- Columns that came after 5505_bookings_columns, and the index on one of them, are made for parts too that were written before, as there.
ALTER TABLE bookings
    MATERIALIZE COLUMN billed_until,
    MATERIALIZE COLUMN taxed,
    MATERIALIZE INDEX billed_until_minmax
