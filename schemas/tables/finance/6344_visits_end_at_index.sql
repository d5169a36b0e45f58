-- Parts that were written before the index was there get it too, beside everything else.
ALTER TABLE visits MATERIALIZE INDEX end_at_minmax
