-- steps: 10
-- What was posted for rentals, a year after the other: the bill on the day of pickup, revenue day by day, a deposit taken
-- and given back, the payment at once or up to 40 days after the return, some never, and what channels keep. Of every 20th the
-- tax was taken back and charged again.
INSERT INTO ledger_entries (account, local_date, ledger_account, transaction, entry_no, id, amount, currency, use_date, vehicle, class, booking,
    customer, location, channel, purpose, kind, source, occurred_at)
WITH JSONExtract(body, 'rate_snapshot', 'days', 'Array(Tuple(date String, amount Tuple(amount Int64)))') AS said,
    arrayMap(d -> toDate32(d.date), said) AS billed_on, length(said) AS days, said[1].amount.amount AS price, billed_on[1] AS first, billed_on[-1] AS last, cityHash64(id) AS h,
    if(h % 3 = 0, 2500, 0) AS extra, tax_minor AS tax, days * price + extra + tax AS total,
    if(channel IN ('turo', 'getaround', 'ota'), intDiv(days * price, 5), 0) AS fee,
    if(intDiv(h, 3) % 10 < 7, first, last + intDiv(h, 30) % 40) AS paid_on, intDiv(h, 1200) % 100 > 0 AS pays,
    (day, what, minor, sort) -> (toDate32(day), CAST(what, 'String'), toInt64(minor), CAST(sort, 'String')) AS e,
    arrayConcat(
        [e(first, 'accounts_receivable', total, 'booking'), e(first, 'deferred_revenue', -days * price, 'booking'), e(first, 'tax_payable', -tax, 'booking')],
        if(h % 20 = 0, [e(last, 'tax_payable', tax, 'booking'), e(last, 'tax_payable', -tax, 'booking')], []),
        if(extra > 0, [e(first, 'revenue.extras', -extra, 'booking')], []),
        arrayMap(d -> e(d, 'deferred_revenue', price, 'booking'), billed_on), arrayMap(d -> e(d, 'revenue.time', -price, 'booking'), billed_on),
        if(fee > 0, [e(first, 'cost.platform_fee', fee, 'booking'), e(first, 'platform_receivable', -fee, 'booking')], []),
        [e(first, 'cash', 30000, 'payment'), e(first, 'deposits_held', -30000, 'payment')],
        if(status = 'completed', [e(last + 1, 'cash', -30000, 'payment'), e(last + 1, 'deposits_held', 30000, 'payment')], []),
        if(pays, [e(paid_on, 'cash', total, 'payment'), e(paid_on, 'accounts_receivable', -total, 'payment')], [])) AS entries
SELECT 7, entry.1, entry.2, id + 2 * toUInt64(toInt32(entry.1) - toInt32(first)) + (entry.4 = 'payment'), n, id + 131 * n, entry.3, currency, entry.1, leg_vehicles[-1],
    toUInt64(substring(vehicle_class_id, 5)), id, toUInt64(substring(customer_id, 5)), toUInt64(substring(pickup_location_id, 5)), channel, if(entry.2 = 'tax_payable', 'tax, State tax', ''),
    entry.4, id + (entry.4 = 'payment'), toDateTime64(entry.1, 3, 'UTC')
FROM bookings
ARRAY JOIN entries AS entry, arrayEnumerate(entries) AS n
WHERE account = 7 AND status IN ('active', 'completed') AND toYear(pickup_at) = 2020 + {step:UInt32} AND entry.1 < toDate32('2030-01-01')
