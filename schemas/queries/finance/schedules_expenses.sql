-- The expenses that some vehicles and recurring costs have made by schedule, and what was posted for the vehicles of
-- categories besides; the vehicle '' stands for the business as a whole.
SELECT id, scheduled_by, vehicle_id, status, body
FROM expenses FINAL
WHERE account = {account:UInt64} AND archived_at IS NULL AND (scheduled_by IN {subjects:Array(String)}
    OR vehicle_id IN {vehicles:Array(String)} AND category IN {categories:Array(String)} AND (vehicle_id != '' OR booking_id = '') AND status = 'posted')
ORDER BY id
