-- Devices written since a time (ms), archived ones too, with their account's retention: what the pipeline's registry
-- reads, all of it with since 0. The minmax index on updated_at leaves out the parts nothing was written to.
SELECT d.account, d.id, d.unique_id, d.archived_at IS NOT NULL, d.updated_at, d.body, a.retention_days
FROM devices AS d FINAL
LEFT JOIN (SELECT id, retention_days FROM accounts FINAL) AS a ON a.id = d.account
WHERE d.updated_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
ORDER BY d.account, d.id
