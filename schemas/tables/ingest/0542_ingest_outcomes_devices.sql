-- What became of the reports of single devices, but for those that are stored as positions: four columns of equal length,
-- an element for each device, quarter of an hour of receipt and outcome (a reason of refusal, or measured: only measurements
-- were stored). Here because the row of a batch is written once, whatever is judged when the batch is formed again.
ALTER TABLE ingest_outcomes
    ADD COLUMN IF NOT EXISTS outcome_devices Array(UInt64),
    ADD COLUMN IF NOT EXISTS outcome_quarters Array(DateTime('UTC')),
    ADD COLUMN IF NOT EXISTS outcome_names Array(LowCardinality(String)),
    ADD COLUMN IF NOT EXISTS outcome_counts Array(UInt32)
