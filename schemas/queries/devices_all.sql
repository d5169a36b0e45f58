-- The trackers of an account with the vehicle that each is on until further notice, for the command line.
SELECT id, unique_id, name, protocol,
    JSONExtractString(arrayFirst(a -> JSONExtractString(a, 'to') = '', JSONExtractArrayRaw(body, 'assignments')), 'vehicle_id') AS vehicle_id
FROM devices FINAL
WHERE account = {account:UInt64} AND archived_at IS NULL
ORDER BY id
