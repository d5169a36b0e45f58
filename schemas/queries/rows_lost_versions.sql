-- As rows_lost.sql, of a table that keeps one row a vehicle, the one of the highest version: a row of a higher one has taken the place of a lower.
SELECT count()
FROM sent_rows
WHERE (account, vehicle) NOT IN
(
    SELECT account, vehicle
    FROM /*table*/ AS stands INNER JOIN sent_rows AS sent ON stands.account = sent.account AND stands.vehicle = sent.vehicle
    WHERE stands./*version*/ >= sent.version AND (stands.account, stands.vehicle) IN (SELECT account, vehicle FROM sent_rows)
)
