-- What was marked to be derived again and is not done.
SELECT account, vehicle, toUnixTimestamp64Milli(assumeNotNull(from_at)), jobs
FROM dirty_spans FINAL
WHERE from_at IS NOT NULL
