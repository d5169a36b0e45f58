-- The vehicles that are an owner's by now, archived or not.
SELECT id
FROM vehicles FINAL
WHERE account = {account:UInt64} AND JSONExtractString(body, 'owner_customer_id') = {owner:String}
ORDER BY id
