-- Until when everything that had been written is in the sums of the ledger: what they lack, a server that was killed has not put there. Of
-- one that runs since before the last look that found nothing wrong, that is now; else when that look began, 1970 if none has been.
SELECT if(max(until) > now64(3) - toIntervalSecond(uptime()), now64(3), max(until)) FROM rollup_looks WHERE sums = 'ledger and its taxes'
