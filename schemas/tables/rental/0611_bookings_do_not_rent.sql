-- What a look at the do-not-rent list said of whoever rents and drives: clear, unsure or do_not_rent. Worked out of the record, as in 0253.
ALTER TABLE bookings
    ADD COLUMN IF NOT EXISTS do_not_rent_check LowCardinality(String) DEFAULT multiIf(
        arrayExists(m -> JSONExtractString(m, 'do_not_rent_check') = 'do_not_rent', JSONExtractArrayRaw(body, 'do_not_rent_matches')), 'do_not_rent',
        notEmpty(JSONExtractArrayRaw(body, 'do_not_rent_matches')), 'unsure', 'clear'),
    ADD COLUMN IF NOT EXISTS listed_customer_ids Array(String)
        DEFAULT arrayMap(m -> JSONExtractString(m, 'listed_customer_id'), JSONExtractArrayRaw(body, 'do_not_rent_matches')),
    ADD INDEX IF NOT EXISTS listed_customers_bloom listed_customer_ids TYPE bloom_filter GRANULARITY 1
