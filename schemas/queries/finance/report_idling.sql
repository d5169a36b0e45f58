-- report: Idling
-- about: How long engines ran while vehicles stood, on trips and between them, and what that burnt.
-- bases: accrual
-- groups: total day week month quarter year vehicle make model class location owner tag
-- figure idle_s seconds: Seconds in which a vehicle stood with its engine on.
-- figure trip_idle_s seconds: Of these, seconds on trips, as at lights.
-- figure stop_idle_s seconds: Of these, seconds at stops.
-- figure moving_s seconds: Seconds in which a vehicle moved.
-- figure engine_s seconds: Seconds with the engine on: moving and idle.
-- figure burning_s seconds: Of the idle seconds, those of vehicles that burn something: neither electric nor on hydrogen.
-- figure idle_gal gal: What they burnt, estimated at 0.16 gallons an hour, what an engine of two litres takes without any load.
-- figure idle_fuel amount: What that cost the account; null where no engine ran, and unless the account says what a gallon
--   costs it (energy_costs).
-- ratio idle_share percent = idle_s / engine_s: Idle time of the time with the engine on.
-- Trips and stops are of the local day on which they began. 0.16 gallons: US Department of Energy, Fact #861, compact sedan.
-- EXPLAIN indexes=1: as in trip_facts.sql.
WITH
    (SELECT any((JSONExtract(body, 'energy_costs', 'gallon', 'amount', 'Nullable(Int64)'),
        JSONExtractString(body, 'energy_costs', 'gallon', 'currency'))) FROM accounts FINAL WHERE account = {account:UInt64}) AS gallon,
    if(gallon.2 = {currency:String}, gallon.1, NULL) AS per_gal
SELECT key, trip_idle_s + stop_idle_s AS idle_s, f.idle_s AS trip_idle_s, f.stop_idle_s AS stop_idle_s, f.moving_s AS moving_s,
    moving_s + idle_s AS engine_s, f.burning_s AS burning_s, burning_s / 3600 * 0.16 AS idle_gal,
    if(engine_s = 0, NULL, toInt64(round(idle_gal * per_gal))) AS idle_fuel
FROM (/*query trip_facts*/) AS f
