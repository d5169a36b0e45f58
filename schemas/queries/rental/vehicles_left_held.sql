-- The vehicles of all accounts that hold their own calendar, as one does that is to be archived or retired, and are neither. Read by desk,
-- which asks the records whether that is so.
SELECT c.account, c.id AS vehicle
FROM (SELECT account, id FROM calendars FINAL WHERE kind = 'calendar' AND has(hold_refs, concat('veh_', toString(id)))) AS c
INNER JOIN (SELECT account, id FROM vehicles FINAL WHERE archived_at IS NULL AND status != 'retired') AS v ON v.account = c.account AND v.id = c.id
ORDER BY c.account, c.id
