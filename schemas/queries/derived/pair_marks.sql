-- The vehicles whose pairs must be looked at.
SELECT account, vehicle, number, from_ms, again_at
FROM pair_marks FINAL
WHERE NOT done
