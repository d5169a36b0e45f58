-- Unknown devices and how many of their reports are kept apart.
SELECT unique_id, count()
FROM unregistered_reports
GROUP BY unique_id
