-- The newest stored fix time of given vehicles, whose state is not known: only doubtful positions, or none. wanted is an
-- external table of (account, vehicle).
SELECT account, vehicle, max(fix_time)
FROM positions
WHERE (account, vehicle) IN (SELECT account, vehicle FROM wanted)
GROUP BY account, vehicle
