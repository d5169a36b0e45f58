-- A customer of an account who is or was on the do-not-rent list, as far as the table has its versions: of most accounts none is, and
-- then nobody need be compared with anybody.
-- EXPLAIN indexes=1: by the account, then granules without anybody on the list are left out.
SELECT id
FROM customers
WHERE account = {account:UInt64} AND (risk_level = 'blocked' OR do_not_rent = 'true')
LIMIT 1
SETTINGS max_threads = 1 -- it reads a granule at most: more threads cost more than they bring
