-- The driver tags that some customers have or ever had. It asks the log, as customer_parts does.
SELECT DISTINCT id
FROM record_log
WHERE account = {account:UInt64} AND kind = 'driver_tag'
    AND hasAny(arrayMap(h -> JSONExtractString(h, 'driver_id'), JSONExtractArrayRaw(body, 'holders')), {customers:Array(String)})
ORDER BY id
