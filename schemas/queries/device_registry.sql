-- Every device with its account's retention: the registry that the pipeline holds in memory. An archived device is no
-- longer registered.
SELECT d.account, d.id, d.unique_id, d.body, a.retention_days
FROM devices AS d FINAL
LEFT JOIN (SELECT id, retention_days FROM accounts FINAL) AS a ON a.id = d.account
WHERE d.archived_at IS NULL
ORDER BY d.account, d.id
