-- On how many days a vehicle of the fleet moved, and how far they went on days on which their fuel is known: by rows of
-- vehicle_days, as in vehicle_months. Facts of version 8 have both.
ALTER TABLE fleet_days
    ADD COLUMN IF NOT EXISTS driven_days UInt64 AFTER energy_kwh,
    ADD COLUMN IF NOT EXISTS fuelled_m Float64 AFTER driven_days
