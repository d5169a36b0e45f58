-- By what vehicles are told apart in reports, as they are now: ids as numbers, 0 for none. Archived ones are among them.
CREATE VIEW IF NOT EXISTS vehicle_traits SQL SECURITY INVOKER AS
SELECT account, id AS vehicle, make, model, year, license_plate, nickname, status, fuel_type, ownership, tags,
    toUInt64OrZero(splitByChar('_', vehicle_class_id)[2]) AS class,
    toUInt64OrZero(splitByChar('_', home_location_id)[2]) AS location,
    toUInt64OrZero(splitByChar('_', owner_customer_id)[2]) AS owner,
    JSONExtractInt(body, 'acquisition_cost', 'amount') AS acquisition_cost,
    JSONExtractString(body, 'acquisition_cost', 'currency') AS acquisition_currency,
    JSONExtractString(body, 'acquired_on') AS acquired_on,
    JSONExtractString(body, 'in_service_on') AS in_service_on,
    JSONExtractString(body, 'out_of_service_on') AS out_of_service_on,
    JSONExtractString(body, 'disposal_on') AS disposal_on,
    JSONExtractString(body, 'timezone') AS timezone
FROM vehicles FINAL
