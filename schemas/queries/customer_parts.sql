-- The notes and documents of some of an account's customers, deleted ones too.
SELECT 'customer_note' AS kind, id FROM customer_notes FINAL WHERE account = {account:UInt64} AND customer_id IN {customers:Array(String)}
UNION ALL
SELECT 'document' AS kind, id FROM documents FINAL WHERE account = {account:UInt64} AND customer_id IN {customers:Array(String)}
