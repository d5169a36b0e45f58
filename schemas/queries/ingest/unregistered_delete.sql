-- Forgets the reports of a device that were kept apart and are on their topic again. Not earlier than a time (ms), because those
-- are not the device's account's, and not later than another, because more may have come meanwhile.
DELETE FROM unregistered_reports
WHERE unique_id = {unique_id:String} AND at BETWEEN fromUnixTimestamp64Milli({since:Int64}, 'UTC') AND fromUnixTimestamp64Milli({until:Int64}, 'UTC')
