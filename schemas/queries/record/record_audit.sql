-- How many revisions of records and of claims have more than one row. Compare-and-set keeps this at zero.
SELECT
    (SELECT count() FROM (SELECT 1 FROM record_log GROUP BY account, kind, id, revision HAVING count() > 1)) AS records,
    (SELECT count() FROM (SELECT 1 FROM claim_log GROUP BY account, field, value, revision HAVING count() > 1)) AS claims
