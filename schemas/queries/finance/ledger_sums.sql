-- Sums of entries of the ledger in one currency over a span of days of the books, in minor units, debits positive, with how many entries
-- they are of: parts, which whoever asks adds up, and narrows to what it wants. Whole months of the span are read from ledger_months, and
-- since is their first day; on the edges of the span, and by day and week, it is the day, from ledger_days where neither vehicles nor
-- customers are in the question, else from ledger_entries. A part of other queries,
-- whose conditions the engine puts into all reads. Of entries FINAL, because one that was written twice counts once; sums count it once
-- when they were compared with the entries (5050_ledger_days.sql). EXPLAIN indexes=1:
-- ledger_months by account, month and ledger_account, ledger_days and ledger_entries by account and local_date, of
-- the months of the edges alone.
WITH
    if(toDayOfMonth({from:Date32}) = 1, {from:Date32}, toDate32(addMonths(makeDate32(toYear({from:Date32}), toMonth({from:Date32}), 1), 1))) AS whole_from,
    makeDate32(toYear({to:Date32} + 1), toMonth({to:Date32} + 1), 1) AS whole_until,
    {group:String} IN ('day', 'week') AS by_days,
    {group:String} IN ('total', 'account', 'channel', 'day', 'week', 'month', 'quarter', 'year')
        AND empty({vehicles:Array(UInt64)}) AND empty({customers:Array(UInt64)})
        /*if chosen*/AND empty({classes:Array(UInt64)}) AND empty({locations:Array(UInt64)}) AND empty({owners:Array(UInt64)})
        AND empty({tags:Array(String)}) AND empty({makes:Array(String)}) AND empty({models:Array(String)})/*end chosen*/ AS of_ledger_days
SELECT month AS since, ledger_account, currency, vehicle, channel, customer, amount, entries
FROM ledger_months
WHERE account = {account:UInt64} AND month >= whole_from AND month < whole_until AND NOT by_days
/*if of_ledger_days*/UNION ALL
SELECT local_date, ledger_account, currency, toUInt64(0), channel, toUInt64(0), amount, entries
FROM ledger_days
WHERE account = {account:UInt64} AND local_date BETWEEN {from:Date32} AND {to:Date32}
    AND (by_days OR local_date < whole_from OR local_date >= whole_until) AND of_ledger_days/*end of_ledger_days*/
/*if of_single_entries*/UNION ALL
SELECT local_date, ledger_account, currency, vehicle, channel, customer, amount, toInt64(1)
FROM ledger_entries FINAL
WHERE account = {account:UInt64} AND local_date BETWEEN {from:Date32} AND {to:Date32}
    AND (by_days OR local_date < whole_from OR local_date >= whole_until) AND NOT of_ledger_days/*end of_single_entries*/
SETTINGS do_not_merge_across_partitions_select_final = 1
