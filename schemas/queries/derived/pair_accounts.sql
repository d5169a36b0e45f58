-- The accounts that have rules of the kind proximity.
SELECT DISTINCT account
FROM alert_rules FINAL
WHERE kind = 'proximity'
