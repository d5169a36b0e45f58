-- What was stored before positions_by_cell_feed. It comes after the feed, so that nothing is missed; what both bring
-- collapses.
INSERT INTO positions_by_cell (account, cell, fix_time, vehicle, lat7, lng7, flags)
SELECT account, cell, fix_time, vehicle, lat7, lng7, flags FROM positions
