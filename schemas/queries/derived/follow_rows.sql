-- What is stored under given identities.
-- External: wanted (account UInt64, vehicle UInt64, kind String, id UInt64)
SELECT account, vehicle, CAST(kind, 'String'), id, revision, toUnixTimestamp64Milli(recognised_at), toUnixTimestamp64Milli(start_at),
    toUnixTimestamp64Milli(end_at), local_date, open, deleted, late, digest, body
FROM derivations FINAL
WHERE (account, vehicle, kind, id) IN (SELECT account, vehicle, kind, id FROM wanted)
