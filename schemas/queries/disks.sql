-- How many bytes may still be written to each disk of the server; those without an end, as of object storage, are left out.
SELECT name, free_space
FROM system.disks
WHERE total_space > 0 AND total_space < toUInt64(1e18)
ORDER BY name
