-- See 0470_ledger_daily_feed_dropped: nothing writes or reads it any more.
DROP TABLE IF EXISTS ledger_daily
