-- Whose an expense of the categories owner_share and owner_payout is: the id of a customer. Serves: lists of expenses.
ALTER TABLE expenses ADD COLUMN IF NOT EXISTS owner_customer_id String DEFAULT JSONExtractString(body, 'owner_customer_id')
