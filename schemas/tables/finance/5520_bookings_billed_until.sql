-- A date after all days that a booking is billed, in any time zone: of its frozen price, else so many from its pickup on.
-- Serves: pace, which asks what has days in a span, and would read ten years of bookings to find the long ones.
ALTER TABLE bookings
    ADD COLUMN IF NOT EXISTS billed_until Date32 DEFAULT greatest(arrayMax(billed_on), addDays(toDate32(pickup_at),
        greatest(1, least(3660, if(billed_days > 0, toInt64(billed_days), dateDiff('day', pickup_at, return_at)))))) + 1,
    ADD INDEX IF NOT EXISTS billed_until_minmax billed_until TYPE minmax GRANULARITY 1
