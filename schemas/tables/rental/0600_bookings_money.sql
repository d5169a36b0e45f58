-- What figures of customers need of a booking's money besides: the taxes among total_minor, and what a deposit paid of it. Worked out of
-- the record, which every row holds, so that rows that were written before have them too, and nothing that writes rows needs to know.
ALTER TABLE bookings
    ADD COLUMN IF NOT EXISTS tax_minor Int64 DEFAULT arraySum(line -> if(JSONExtractString(line, 'type') = 'tax', JSONExtractInt(line, 'amount', 'amount'), 0), JSONExtractArrayRaw(body, 'charges')),
    ADD COLUMN IF NOT EXISTS applied_minor Int64 DEFAULT JSONExtractInt(body, 'deposit', 'applied', 'amount')
