-- Every pair that rules of the kind proximity are or were about.
SELECT account, rule, rule_revision, vehicle, other, from_ms, until_ms
FROM pair_watches FINAL
