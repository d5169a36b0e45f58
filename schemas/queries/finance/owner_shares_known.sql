-- Notes the vehicles of an account, or for 0 of all, that some revision since an instant says are somebody's, as far as nobody knows of them yet: so one is looked at also when
-- it is nobody's again by then. The time of the note is 1970, before every look. EXPLAIN indexes=1: record_log by at_minmax since an
-- instant, and of one account by account and kind, as owner_share_looks by account; of all accounts all revisions of vehicles since then are read.
INSERT INTO owner_share_looks (account, vehicle, month, at, basis)
SELECT DISTINCT account, id, toDate32('1970-01-01'), toDateTime64(0, 3, 'UTC'), toUInt64(0)
FROM record_log
WHERE kind = 'vehicle' AND at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
    AND ({account:UInt64} = 0 OR account = {account:UInt64}) AND body LIKE '%"owner_customer_id":"cus_%' AND JSONExtractString(body, 'owner_customer_id') != ''
    AND (account, id) NOT IN (
        SELECT account, vehicle FROM owner_share_looks WHERE {account:UInt64} = 0 OR account = {account:UInt64})
