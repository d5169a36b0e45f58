-- The rate plans of an account that are in use; of those that fit a rental the first holds. There are few: which fits is left to the reader, who may
-- ask for several days.
SELECT id, vehicle_class_ids, channels, valid_from, valid_to
FROM rate_plans FINAL
WHERE account = {account:UInt64} AND archived_at IS NULL AND enabled
ORDER BY priority DESC, id DESC
SETTINGS max_threads = 1 -- it reads a granule or two: more threads cost more than they bring
