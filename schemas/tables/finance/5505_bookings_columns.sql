-- Columns that came after v0.1.0 are worked out of the record whenever a part is read that was written before: they are
-- written once, beside everything else, so that reports of an old database need not unpack its bookings.
ALTER TABLE bookings
    MATERIALIZE COLUMN swaps,
    MATERIALIZE COLUMN leg_vehicles,
    MATERIALIZE COLUMN leg_from_ms,
    MATERIALIZE COLUMN leg_until_ms,
    MATERIALIZE COLUMN leg_mi,
    MATERIALIZE COLUMN leg_fuel_pct,
    MATERIALIZE COLUMN leg_battery_pct,
    MATERIALIZE COLUMN included_mi,
    MATERIALIZE COLUMN extra_mile_fee,
    MATERIALIZE COLUMN mileage_charged,
    MATERIALIZE COLUMN refuel_charged,
    MATERIALIZE COLUMN recharge_charged,
    MATERIALIZE COLUMN late_days,
    MATERIALIZE COLUMN billed_on,
    MATERIALIZE COLUMN billed_minor,
    MATERIALIZE COLUMN agreed_minor,
    MATERIALIZE COLUMN agreed_time_minor
