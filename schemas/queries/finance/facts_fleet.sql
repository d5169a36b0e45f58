-- How many vehicles an account has or had, which says how many days of facts a month of it has.
-- EXPLAIN indexes=1: vehicles by account.
SELECT count() FROM vehicles FINAL WHERE account = {account:UInt64}
