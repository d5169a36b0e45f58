-- The addresses that a provider has given for some cells.
SELECT cell, address
FROM addresses FINAL
WHERE provider = {provider:String} AND cell IN {cells:Array(UInt64)}
