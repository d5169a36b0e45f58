-- Devices written since a time (ms), or whose unique id an operator gave to an account since, or whose account was written since,
-- archived ones too, with their account's retention and with whom the unique id was given to (0: nobody): what the pipeline's registry reads, all of it
-- with since 0.
SELECT d.account, d.id, d.unique_id, d.archived_at IS NOT NULL, d.created_at, greatest(d.updated_at, o.at, a.updated_at), d.body, a.retention_days,
    o.account, o.kept
FROM devices AS d FINAL
LEFT JOIN (SELECT id, retention_days, updated_at FROM accounts FINAL) AS a ON a.id = d.account
LEFT JOIN (SELECT unique_id, account, kept, at FROM device_owners FINAL) AS o ON o.unique_id = d.unique_id
WHERE d.updated_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
    OR d.unique_id IN (SELECT unique_id FROM device_owners WHERE at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC'))
    OR d.account IN (SELECT id FROM accounts WHERE updated_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC'))
ORDER BY d.account, d.id
