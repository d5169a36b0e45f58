-- Until when the facts of an account were made: when the newest of those of a month ago and later was, which are made
-- again all the time; 1970 of an account without facts. EXPLAIN indexes=1: both tables by account and local_date.
SELECT greatest(
    (SELECT max(computed_at) FROM vehicle_days WHERE account = {account:UInt64} AND local_date >= toDate32({today:Date32}) - 31),
    (SELECT max(computed_at) FROM rental_days WHERE account = {account:UInt64} AND local_date >= toDate32({today:Date32}) - 31))
