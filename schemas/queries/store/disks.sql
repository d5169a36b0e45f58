-- How many bytes may still be written on the disks of each storage policy that this database's tables have: on the roomiest, as a policy
-- goes on to its next disk when one is full. Disks without an end, as of object storage, are left out, and so are those that nothing of
-- ours is on.
SELECT policy_name, max(d.free_space)
FROM system.storage_policies AS p ARRAY JOIN p.disks AS disk
JOIN system.disks AS d ON d.name = disk
WHERE policy_name IN (SELECT storage_policy FROM system.tables WHERE database = currentDatabase())
GROUP BY policy_name
HAVING max(d.total_space) BETWEEN 1 AND toUInt64(1e18)
ORDER BY policy_name
