-- The accounts of some that have a customer who is or was on the do-not-rent list, as far as the table has its versions: in most none is, and
-- then nobody need be compared with anybody.
-- EXPLAIN indexes=1: by the account, then granules without anybody on the list are left out.
SELECT DISTINCT account
FROM customers
WHERE account IN {accounts:Array(UInt64)} AND (risk_level = 'blocked' OR do_not_rent = 'true')
LIMIT length({accounts:Array(UInt64)}) -- all of them are found
SETTINGS max_threads = 1 -- it reads few granules: more threads cost more than they bring
