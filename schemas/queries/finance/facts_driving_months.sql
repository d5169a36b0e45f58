-- Makes the months of driving_days from the month of one local date to that of another, of an account's vehicles, those in
-- vehicles unless it is empty. EXPLAIN indexes=1: driving_days by account and date.
INSERT INTO driving_months (account, month, vehicle, computed_at,
    trips, ways, distance_m, ways_m, estimated_m, recorded_m, duration_s, moving_s, idle_s, stop_idle_s,
    max_speed_mps, braking, acceleration, cornering, speeding, speeding_s, crashes)
SELECT account, makeDate32(toYear(local_date), toMonth(local_date), 1) AS month, vehicle, now64(3, 'UTC'),
    sum(trips), sum(ways), sum(distance_m), sum(ways_m), sum(estimated_m), sum(recorded_m), sum(duration_s),
    sum(moving_s), sum(idle_s), sum(stop_idle_s), max(max_speed_mps), sum(braking), sum(acceleration),
    sum(cornering), sum(speeding), sum(speeding_s), sum(crashes)
FROM driving_days FINAL
WHERE account = {account:UInt64}
    AND local_date >= makeDate32(toYear({from:Date32}), toMonth({from:Date32}), 1)
    AND local_date <= toLastDayOfMonth({to:Date32})
    AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
GROUP BY account, month, vehicle
