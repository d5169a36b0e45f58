-- Which accounts operators gave unique ids to, and with what was kept apart of them or without.
SELECT unique_id, account, kept
FROM device_owners FINAL
WHERE unique_id IN {unique_ids:Array(String)}
SETTINGS max_threads = 1 -- it reads a granule or two: more threads cost more than they bring
