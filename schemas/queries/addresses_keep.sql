-- Keeps addresses of cells; the columns are those of a batch.
INSERT INTO addresses (provider, cell, at, address)
