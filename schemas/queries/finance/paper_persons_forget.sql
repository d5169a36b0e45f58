-- Removes what papers say of some customers and need not be kept any longer. It waits until the bytes are out of the parts that are read.
ALTER TABLE paper_persons
DELETE WHERE account = {account:UInt64} AND hasAny(customers, {customers:Array(UInt64)}) AND keep_until < {today:Date32}
SETTINGS mutations_sync = 1
