-- The expenses that are no cost: what was paid for vehicles and back to lenders, and what vehicles were sold for. A part of lists of
-- entries, which ask for them or for all else if capital is not empty. EXPLAIN indexes=1: expenses by account.
SELECT id FROM expenses FINAL
WHERE account = {account:UInt64} AND {capital:String} != '' AND category IN ('vehicle_purchase', 'vehicle_sale', 'loan_principal')
