-- What has become of the reports of one replay so far, over all accounts.
SELECT sum(read) AS read, sum(stored) AS stored, sumMap(refused) AS refused
FROM ingest_outcomes FINAL
WHERE run = {run:String}
