-- ingest_outcomes to device_outcomes: an element of its columns a row.
CREATE MATERIALIZED VIEW IF NOT EXISTS device_outcomes_feed TO device_outcomes AS
SELECT account, device, quarter, outcome, run, topic, partition, first_offset, n
FROM ingest_outcomes
ARRAY JOIN outcome_devices AS device, outcome_quarters AS quarter, outcome_names AS outcome, outcome_counts AS n
