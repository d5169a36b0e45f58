-- What reports ask of the use of a booking. swaps: the vehicles that it drove off with and gave back for another, as the
-- record has them. leg_*: of them and the one that it has or had last (rental.Legs), in order: from when to when, in
-- milliseconds, 0 for not yet; the miles by what was read off the odometer at both ends, and by how many percent the
-- tank and the traction battery were fuller when it was taken than when it was given back, null if one of the two is not
-- known. included_mi is null for unlimited. *_charged are what is left of such charges after reversals, and late_days
-- how many days beyond those agreed they count. billed_on, billed_minor: the days that the frozen rate bills, and the
-- price of each.
ALTER TABLE bookings
    ADD COLUMN IF NOT EXISTS swaps Array(String)
        DEFAULT arrayFilter(s -> JSONExtractString(s, 'from') != '', JSONExtractArrayRaw(body, 'vehicle_history')),
    ADD COLUMN IF NOT EXISTS leg_vehicles Array(UInt64) DEFAULT arrayMap(
        v -> toUInt64OrZero(substring(v, 5)),
        arrayPushBack(arrayMap(s -> JSONExtractString(s, 'vehicle_id'), swaps), vehicle_id)),
    ADD COLUMN IF NOT EXISTS leg_from_ms Array(Int64) DEFAULT arrayMap(
        t -> toUnixTimestamp64Milli(parseDateTime64BestEffortOrZero(t, 3, 'UTC')),
        arrayPushBack(
            arrayMap(s -> JSONExtractString(s, 'from'), swaps),
            if(empty(swaps), JSONExtractString(body, 'actual_pickup_at'), JSONExtractString(swaps[-1], 'until')))),
    ADD COLUMN IF NOT EXISTS leg_until_ms Array(Int64) DEFAULT arrayMap(
        t -> toUnixTimestamp64Milli(parseDateTime64BestEffortOrZero(t, 3, 'UTC')),
        arrayPushBack(arrayMap(s -> JSONExtractString(s, 'until'), swaps), JSONExtractString(body, 'actual_return_at'))),
    ADD COLUMN IF NOT EXISTS leg_mi Array(Nullable(Int64)) DEFAULT arrayPushBack(
        arrayMap(
            s -> JSONExtract(s, 'mileage_mi', 'Nullable(Int64)') - JSONExtract(s, 'pickup_mileage_mi', 'Nullable(Int64)'),
            swaps),
        JSONExtract(body, 'return_mileage_mi', 'Nullable(Int64)')
            - JSONExtract(body, 'pickup_mileage_mi', 'Nullable(Int64)')),
    ADD COLUMN IF NOT EXISTS leg_fuel_pct Array(Nullable(Float64)) DEFAULT arrayPushBack(
        arrayMap(
            s -> JSONExtract(s, 'pickup_fuel_pct', 'Nullable(Float64)') - JSONExtract(s, 'fuel_pct', 'Nullable(Float64)'),
            swaps),
        JSONExtract(body, 'pickup_fuel_pct', 'Nullable(Float64)')
            - JSONExtract(body, 'return_fuel_pct', 'Nullable(Float64)')),
    ADD COLUMN IF NOT EXISTS leg_battery_pct Array(Nullable(Float64)) DEFAULT arrayPushBack(
        arrayMap(
            s -> JSONExtract(s, 'pickup_battery_level', 'Nullable(Float64)')
                - JSONExtract(s, 'battery_level', 'Nullable(Float64)'),
            swaps),
        JSONExtract(body, 'pickup_battery_level', 'Nullable(Float64)')
            - JSONExtract(body, 'return_battery_level', 'Nullable(Float64)')),
    ADD COLUMN IF NOT EXISTS included_mi Nullable(Int64)
        DEFAULT JSONExtract(body, 'rate_snapshot', 'included_mi', 'Nullable(Int64)'),
    ADD COLUMN IF NOT EXISTS extra_mile_fee Int64 DEFAULT JSONExtractInt(body, 'rate_snapshot', 'extra_mile_fee', 'amount'),
    ADD COLUMN IF NOT EXISTS mileage_charged Int64 DEFAULT arraySum(
        c -> if(JSONExtractString(c, 'type') = 'mileage', JSONExtractInt(c, 'amount', 'amount'), 0),
        JSONExtractArrayRaw(body, 'charges')),
    ADD COLUMN IF NOT EXISTS refuel_charged Int64 DEFAULT arraySum(
        c -> if(JSONExtractString(c, 'type') = 'refuel', JSONExtractInt(c, 'amount', 'amount'), 0),
        JSONExtractArrayRaw(body, 'charges')),
    ADD COLUMN IF NOT EXISTS recharge_charged Int64 DEFAULT arraySum(
        c -> if(JSONExtractString(c, 'type') = 'recharge', JSONExtractInt(c, 'amount', 'amount'), 0),
        JSONExtractArrayRaw(body, 'charges')),
    ADD COLUMN IF NOT EXISTS late_days Int64 DEFAULT arraySum(
        c -> if(JSONExtractString(c, 'type') = 'late_return', JSONExtractInt(c, 'quantity'), 0),
        JSONExtractArrayRaw(body, 'charges')),
    ADD COLUMN IF NOT EXISTS billed_on Array(Date32) DEFAULT arrayMap(
        d -> toDate32OrZero(JSONExtractString(d, 'date')), JSONExtractArrayRaw(body, 'rate_snapshot', 'days')),
    ADD COLUMN IF NOT EXISTS billed_minor Array(Int64) DEFAULT arrayMap(
        d -> JSONExtractInt(d, 'amount', 'amount'), JSONExtractArrayRaw(body, 'rate_snapshot', 'days'))
