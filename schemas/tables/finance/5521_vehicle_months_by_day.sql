-- What vehicle_days has for each day of the month. days_known: a bit for each day that has a row, the lowest for the first.
-- Of each day from the first on, rented_by_day: rented_s; rentable_by_day: fleet_s - down_s; billed_by_day: billed_days;
-- sold_by_day: revenue of time and mileage, and discounts; running_by_day: variable cost and platform fees. Serves:
-- forecasts and advice, which ask for each day of up to three years by the class that a vehicle is in now: a month of a
-- vehicle is one row of thirty, and FINAL has as many less to put in order.
ALTER TABLE vehicle_months
    ADD COLUMN IF NOT EXISTS days_known UInt32,
    ADD COLUMN IF NOT EXISTS rented_by_day Array(UInt32),
    ADD COLUMN IF NOT EXISTS rentable_by_day Array(Int64),
    ADD COLUMN IF NOT EXISTS billed_by_day Array(UInt32),
    ADD COLUMN IF NOT EXISTS sold_by_day Array(Int64),
    ADD COLUMN IF NOT EXISTS running_by_day Array(Int64)
