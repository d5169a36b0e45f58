-- The rentals of an account in a currency whose vehicle came back in a span of local days of theirs, with what stands in
-- them. A part of reports. EXPLAIN indexes=1: bookings by the account; the columns read are narrow.
SELECT id AS booking, leg_vehicles[-1] AS vehicle, toUInt64OrZero(substring(vehicle_class_id, 5)) AS class,
    toUInt64OrZero(substring(pickup_location_id, 5)) AS location,
    CAST(if(bookings.channel = '', 'direct', bookings.channel), 'String') AS channel, toUInt64OrZero(substring(customer_id, 5)) AS customer,
    if(returned_on > toDate32('1970-01-01'), returned_on, toDate32(formatDateTime(actual_return_at, '%F',
        if(timezone = '', if({zone:String} = '', 'UTC', {zone:String}), timezone)))) AS day,
    actual_pickup_at, if(toUnixTimestamp64Milli(pickup_at) = 0, actual_pickup_at, least(pickup_at, actual_pickup_at)) AS began_at,
    actual_return_at, return_at, billed_days, leg_vehicles, leg_from_ms, leg_until_ms, leg_mi, leg_fuel_pct,
    leg_battery_pct, included_mi, extra_mile_fee, mileage_charged, refuel_charged, recharge_charged, late_days
FROM bookings FINAL
WHERE account = {account:UInt64} AND archived_at IS NULL AND status = 'completed' AND bookings.currency = {currency:String}
    AND actual_return_at >= toDateTime64({from:Date32}, 3, 'UTC') - INTERVAL 1 DAY
    AND actual_return_at < toDateTime64({to:Date32}, 3, 'UTC') + INTERVAL 2 DAY
    AND day BETWEEN {from:Date32} AND {to:Date32}
    AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
    AND (empty({classes:Array(UInt64)}) OR class IN {classes:Array(UInt64)})
    AND (empty({locations:Array(UInt64)}) OR location IN {locations:Array(UInt64)})
    AND (empty({channels:Array(String)}) OR channel IN {channels:Array(String)})
    AND (empty({customers:Array(UInt64)}) OR customer IN {customers:Array(UInt64)})
    /*if chosen*/AND (empty({owners:Array(UInt64)}) AND empty({tags:Array(String)}) AND empty({makes:Array(String)}) AND empty({models:Array(String)})
        OR vehicle IN (/*query vehicles_held*/))/*end chosen*/
