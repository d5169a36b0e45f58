-- The part of agreed_minor that is for time and miles, less discounts: what rates per day are made of.
ALTER TABLE bookings ADD COLUMN IF NOT EXISTS agreed_time_minor Int64 DEFAULT arraySum(
    l -> if(JSONExtractString(l, 'reversal_of') = '' AND JSONExtractString(l, 'type') IN ('time', 'mileage', 'discount',
        'promo'), JSONExtractInt(l, 'amount', 'amount'), 0),
    if(JSONHas(body, 'rate_snapshot', 'lines'), JSONExtractArrayRaw(body, 'rate_snapshot', 'lines'),
        JSONExtractArrayRaw(body, 'charges')))
