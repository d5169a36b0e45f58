-- What was agreed for each day that a booking is billed: agreed_minor, divided among the days in proportion to their prices, or evenly where
-- there are none; what is left over by rounding goes to the later ones. Which days these are, and how many if there is no frozen price, is said in
-- booked_days.sql. Serves: pace.
ALTER TABLE bookings ADD COLUMN IF NOT EXISTS agreed_by_day Array(Int64) DEFAULT arrayFlatten(arrayMap(
    upto -> arrayPopFront(arrayDifference(arrayMap(u -> intDiv(agreed_minor * u, upto[-1]), upto))),
    [arrayPushFront(arrayCumSum(if(notEmpty(billed_minor) AND arrayMin(billed_minor) >= 0 AND arraySum(billed_minor) > 0, billed_minor,
        arrayMap(i -> toInt64(1), range(if(notEmpty(billed_on), length(billed_on), toUInt64(greatest(1, least(3660,
            if(billed_days > 0, toInt64(billed_days), dateDiff('day', pickup_at, return_at)))))))))), 0)]))
