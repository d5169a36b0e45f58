-- Forgets the reports of a device that were kept apart and are on their topic again. Not later than a time (ms), because
-- more may have come meanwhile.
DELETE FROM unregistered_reports
WHERE unique_id = {unique_id:String} AND at <= fromUnixTimestamp64Milli({until:Int64}, 'UTC')
