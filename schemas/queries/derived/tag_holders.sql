-- Whose tags are and were, a row a holder; all tags if none is named. Archived ones too: a card that was lost was somebody's.
SELECT tag, JSONExtractString(holder, 'driver_id'),
    toUnixTimestamp64Milli(parseDateTime64BestEffortOrZero(JSONExtractString(holder, 'from'), 3, 'UTC')),
    toUnixTimestamp64Milli(parseDateTime64BestEffortOrZero(JSONExtractString(holder, 'until'), 3, 'UTC'))
FROM driver_tags FINAL
ARRAY JOIN JSONExtractArrayRaw(body, 'holders') AS holder
WHERE account = {account:UInt64} AND tag != '' AND (empty({tags:Array(String)}) OR tag IN {tags:Array(String)})
ORDER BY id DESC
