-- The expenses that some vehicles and recurring costs have made by schedule, and what was posted for the vehicles of
-- categories besides; the vehicle '' stands for the business as a whole. In two parts, so that each goes by an index.
-- EXPLAIN indexes=1: the account by the key, then vehicle_id_bloom, and scheduled_by_bloom.
SELECT id, by, vehicle, state, record
FROM (
    SELECT id, scheduled_by AS by, vehicle_id AS vehicle, CAST(status, 'String') AS state, body AS record
    FROM expenses FINAL
    WHERE account = {account:UInt64} AND vehicle_id IN {vehicles:Array(String)} AND archived_at IS NULL
        AND (scheduled_by = vehicle_id AND vehicle_id != ''
            OR category IN {categories:Array(String)} AND (vehicle_id != '' OR booking_id = '') AND status = 'posted')
    UNION ALL
    SELECT id, scheduled_by, vehicle_id, CAST(status, 'String'), body
    FROM expenses FINAL
    WHERE account = {account:UInt64} AND scheduled_by IN {recurring:Array(String)} AND archived_at IS NULL
)
ORDER BY id
LIMIT 1 BY id
