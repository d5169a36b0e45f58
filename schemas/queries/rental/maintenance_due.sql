-- What is due of vehicles: their open reminders. Of all accounts with account 0, of all vehicles with none given.
SELECT account, vehicle, id, schedule, toString(stage) AS stage, due_on, forecast_due_on
FROM reminders FINAL
WHERE ({account:UInt64} = 0 OR account = {account:UInt64}) AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
    AND archived_at IS NULL AND stage NOT IN ('resolved', 'dismissed')
ORDER BY account, vehicle, id
