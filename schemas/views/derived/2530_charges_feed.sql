-- derivations to charges.
CREATE MATERIALIZED VIEW IF NOT EXISTS charges_feed TO charges AS
SELECT
    account, vehicle, id, revision, start_at, end_at, local_date, open, deleted, late, written_at AS updated_at,
    JSONExtract(body, 'soc_start_pct', 'Nullable(Float64)') AS soc_start_pct,
    JSONExtract(body, 'soc_end_pct', 'Nullable(Float64)') AS soc_end_pct, JSONExtract(body, 'energy_kwh', 'Nullable(Float64)') AS energy_kwh,
    body
FROM derivations
WHERE kind = 'charge'
