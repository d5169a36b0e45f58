-- What else a completed rental was: so that reports of rentals read nothing but this. completed: it is no longer, if the booking was taken up again
-- or archived since. day: the local day of its return, in the zone of the booking. vehicle: that which came back; class, location
-- (of the pickup), channel and customer as the booking has them. metered: the odometers were read at every pickup and return; odometer_mi is what they say then, and over_mi,
-- unbilled_mi what of that is beyond the miles that the rate includes, and not charged for. missing: by leg, by how many percent the tank
-- and the battery of its vehicle were fuller at the pickup than at the return, of legs on which one of them was. *_charged:
-- minor units charged for that, less what was reversed.
ALTER TABLE rental_sums
    ADD COLUMN IF NOT EXISTS completed Bool,
    ADD COLUMN IF NOT EXISTS day Date32,
    ADD COLUMN IF NOT EXISTS vehicle UInt64,
    ADD COLUMN IF NOT EXISTS class UInt64,
    ADD COLUMN IF NOT EXISTS location UInt64,
    ADD COLUMN IF NOT EXISTS channel LowCardinality(String),
    ADD COLUMN IF NOT EXISTS customer UInt64,
    ADD COLUMN IF NOT EXISTS currency LowCardinality(String),
    ADD COLUMN IF NOT EXISTS rented_s Int64,
    ADD COLUMN IF NOT EXISTS billed_days UInt32,
    ADD COLUMN IF NOT EXISTS metered Bool,
    ADD COLUMN IF NOT EXISTS odometer_mi Int64,
    ADD COLUMN IF NOT EXISTS over_mi Int64,
    ADD COLUMN IF NOT EXISTS unbilled_mi Int64,
    ADD COLUMN IF NOT EXISTS extra_mile_fee Int64,
    ADD COLUMN IF NOT EXISTS missing Array(Tuple(vehicle UInt64, fuel_pct Float64, battery_pct Float64)),
    ADD COLUMN IF NOT EXISTS refuel_charged Int64,
    ADD COLUMN IF NOT EXISTS recharge_charged Int64,
    ADD INDEX IF NOT EXISTS day_minmax day TYPE minmax GRANULARITY 1
