-- Once more to the tables that were made anew: what another process derived while they were, which went to the old ones, and one row
-- of each kind and month, so that each month has a part that is not merged yet. A row that is there already changes nothing.
INSERT INTO derivations
SELECT * FROM derivations
WHERE written_at >= now() - INTERVAL 7 DAY
    OR (account, vehicle, kind, id) IN (
        SELECT any((account, vehicle, kind, id)) FROM derivations GROUP BY kind, toYYYYMM(start_at))
SETTINGS insert_deduplicate = 0
