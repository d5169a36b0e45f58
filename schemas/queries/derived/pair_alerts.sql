-- The alerts of a rule's version about a pair that end at or after a time or go on.
SELECT id, toUnixTimestamp64Milli(recognised_at), body
FROM derivations FINAL
WHERE account = {account:UInt64} AND vehicle = {vehicle:UInt64} AND kind = 'alert' AND NOT deleted
    AND (open OR end_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC'))
    AND JSONExtractString(body, 'rule') = toString({rule:UInt64}) AND JSONExtractUInt(body, 'rule_revision') = {revision:UInt64}
    AND JSONExtractString(body, 'subject') = {other:String}
