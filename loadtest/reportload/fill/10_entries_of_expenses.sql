-- steps: 1
-- What was posted for expenses.
INSERT INTO ledger_entries (account, local_date, ledger_account, transaction, entry_no, id, amount, currency, use_date, vehicle, class,
    location, kind, source, occurred_at)
WITH toUInt64(substring(vehicle_id, 5)) AS v, toDate32(incurred_on) AS day
SELECT 7, day, side.1, id, side.3, id + side.3, side.2, currency, day, v, 1 + v % 20, 1 + intDiv(v, 20) % 12, 'expense', id, created_at
FROM expenses
ARRAY JOIN [(if(category = 'vehicle_purchase', 'fixed_asset', concat('cost.', category)), amount, 1),
    (if(category = 'depreciation', 'accumulated_depreciation', 'cash'), -amount, 2)] AS side
WHERE account = 7
