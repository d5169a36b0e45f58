-- What a booking was agreed to bring, in minor units: its price without taxes, and without what is only known later
-- (tolls, damage, fees of cancelling or of a late return). By the frozen price; of an imported booking, which has none,
-- by the lines that were not reversed. It stays when the booking is cancelled. Serves: pace, which asks what stood on
-- the books on some day.
ALTER TABLE bookings ADD COLUMN IF NOT EXISTS agreed_minor Int64 DEFAULT arraySum(
    l -> if(JSONExtractString(l, 'reversal_of') = '' AND JSONExtractString(l, 'type') IN ('time', 'mileage', 'discount',
        'promo', 'extra', 'protection', 'delivery', 'one_way', 'young_driver', 'additional_driver'),
        JSONExtractInt(l, 'amount', 'amount'), 0),
    if(JSONHas(body, 'rate_snapshot', 'lines'), JSONExtractArrayRaw(body, 'rate_snapshot', 'lines'),
        JSONExtractArrayRaw(body, 'charges')))
