-- How many metres vehicles have driven in each local month, by the facts of their days. month counts from the year 0.
SELECT vehicle, toUInt32(toYear(local_date) * 12 + toMonth(local_date) - 1) AS month, toInt64(round(sum(driven_m))) AS metres
FROM vehicle_days FINAL
WHERE account = {account:UInt64} AND vehicle IN {vehicles:Array(UInt64)}
GROUP BY vehicle, month
ORDER BY vehicle, month
