-- The rate plans of an account that are in use and fit a channel, on a local day; the one that holds comes first. Which class each is for is left to
-- the reader, who may ask for several.
SELECT id, vehicle_class_ids
FROM rate_plans FINAL
WHERE account = {account:UInt64} AND archived_at IS NULL AND enabled
    AND (empty(channels) OR has(channels, {channel:String}))
    AND (valid_from = '' OR valid_from <= {day:String}) AND (valid_to = '' OR valid_to >= {day:String})
ORDER BY priority DESC, id DESC
