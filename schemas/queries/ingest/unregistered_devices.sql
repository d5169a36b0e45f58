-- Unknown devices, how many of their reports are kept apart, and when the newest of them came (ms).
SELECT unique_id, count(), toUnixTimestamp64Milli(max(at))
FROM unregistered_reports
GROUP BY unique_id
