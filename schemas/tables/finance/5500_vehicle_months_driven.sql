-- What reports of driving ask of the days of a month, so that they need not read these: on how many days a vehicle
-- moved, and the metres of days on which fuel was known.
ALTER TABLE vehicle_months
    ADD COLUMN IF NOT EXISTS driven_days UInt32,
    ADD COLUMN IF NOT EXISTS fuelled_m Float64
