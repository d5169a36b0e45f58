-- Takes the checkpoints of days before {before} out of use but for the last of each vehicle in each month, the newest of all among
-- them: the row that says so has no state, and replaces the one that has when they are merged. A deletion could bring an older version to
-- light while it goes on, of which a repair has shown that it is worthless. Of each format apart, since a program reads its own. Where an
-- account keeps its positions for some time only, checkpoints go with them, and those near the end are wanted day by day.
INSERT INTO checkpoints (account, vehicle, day, version, at, wake_at, format, dropped, state)
SELECT account, vehicle, day, version + 1, at, NULL, format, true, ''
FROM (SELECT account, vehicle, day, version, at, format FROM checkpoints FINAL WHERE day < {before:Date} AND NOT dropped
    AND account NOT IN (SELECT id FROM accounts FINAL WHERE retention_days > 0))
QUALIFY row_number() OVER (PARTITION BY account, vehicle, format, toYYYYMM(day) ORDER BY day DESC) > 1
