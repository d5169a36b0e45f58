-- What else reports of customers ask for. returned_at: when it ended. billed: minor units in the currency of the booking that its charges come to
-- without taxes.
ALTER TABLE rental_sums
    ADD COLUMN IF NOT EXISTS returned_at DateTime64(3, 'UTC'),
    ADD COLUMN IF NOT EXISTS billed Int64
