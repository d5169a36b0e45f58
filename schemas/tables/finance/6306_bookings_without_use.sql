-- What rental_sums has by now: a column that is worked out costs each write of a booking half a millisecond to two, which the server needs to plan it.
ALTER TABLE bookings
    DROP COLUMN IF EXISTS leg_mi,
    DROP COLUMN IF EXISTS leg_fuel_pct,
    DROP COLUMN IF EXISTS leg_battery_pct,
    DROP COLUMN IF EXISTS included_mi,
    DROP COLUMN IF EXISTS extra_mile_fee,
    DROP COLUMN IF EXISTS mileage_charged,
    DROP COLUMN IF EXISTS refuel_charged,
    DROP COLUMN IF EXISTS recharge_charged,
    DROP COLUMN IF EXISTS late_days
