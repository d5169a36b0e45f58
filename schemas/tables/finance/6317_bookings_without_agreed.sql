-- What booking_sums has by now, as in 6306.
ALTER TABLE bookings
    DROP COLUMN IF EXISTS billed_until,
    DROP COLUMN IF EXISTS agreed_by_day,
    DROP COLUMN IF EXISTS agreed_time_minor,
    DROP COLUMN IF EXISTS billed_minor,
    DROP COLUMN IF EXISTS billed_on
