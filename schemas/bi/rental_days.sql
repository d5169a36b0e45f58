-- One row a booking and local day on which it had a vehicle or is billed.
-- Reads rental_days: account, booking, local_date, vehicle, class, customer, location, channel, status, currency,
--     rented_s, billed_days, computed_at
CREATE OR REPLACE VIEW /*bi*/rental_days
(
    account_id String COMMENT 'the account; a user of this database sees one',
    booking_id String COMMENT 'the booking',
    local_date Date32 COMMENT 'the day',
    vehicle_id String COMMENT 'the vehicle it had that day',
    vehicle_class_id String COMMENT 'class of the vehicle',
    customer_id String COMMENT 'who rents; an id only',
    location_id String COMMENT 'where the booking begins',
    channel String COMMENT 'where the booking came from',
    status String COMMENT 'status of the booking',
    currency String COMMENT 'ISO 4217 code of what the booking comes to',
    rented_s UInt32 COMMENT 'seconds from pickup to return on that day',
    billed_days UInt32 COMMENT '1 if the day is billed',
    computed_at DateTime64(3, 'UTC') COMMENT 'when this row was worked out'
)
SQL SECURITY INVOKER AS
SELECT
    concat('acc_', toString(account)) AS account_id,
    if(booking = 0, '', concat('bkg_', toString(booking))) AS booking_id,
    local_date,
    if(vehicle = 0, '', concat('veh_', toString(vehicle))) AS vehicle_id,
    if(class = 0, '', concat('vcl_', toString(class))) AS vehicle_class_id,
    if(customer = 0, '', concat('cus_', toString(customer))) AS customer_id,
    if(location = 0, '', concat('loc_', toString(location))) AS location_id,
    channel,
    status,
    currency,
    rented_s,
    billed_days,
    computed_at
FROM rental_days AS r FINAL
