-- When the last look at the sums of the ledger began that found nothing wrong; 1970 if none has been.
SELECT max(until) FROM rollup_looks WHERE sums = 'ledger and its taxes'
