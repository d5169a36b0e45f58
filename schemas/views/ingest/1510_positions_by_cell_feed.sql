-- positions to positions_by_cell: the same rows in the order of places.
CREATE MATERIALIZED VIEW IF NOT EXISTS positions_by_cell_feed TO positions_by_cell AS
SELECT account, cell, fix_time, vehicle, lat7, lng7, flags
FROM positions
