-- How far electric vehicles went, and what they were charged with: by rows of vehicle_days, of vehicles that run on
-- electricity alone by what was known of them when the day was added up. Facts of version 9 have both.
ALTER TABLE fleet_days
    ADD COLUMN IF NOT EXISTS electric_m Float64 AFTER fuelled_m,
    ADD COLUMN IF NOT EXISTS electric_kwh Float64 AFTER electric_m
