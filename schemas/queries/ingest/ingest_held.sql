-- Whether somebody has asked the pipeline to hold still, by the server's clock.
SELECT count() > 0 AS held
FROM ingest_holds FINAL
WHERE until > now64(3)
